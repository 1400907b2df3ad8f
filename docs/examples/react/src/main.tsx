import 'express-intents/elements';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

function App() {
  const [quantity, setQuantity] = useState(1);
  const [intent, setIntent] = useState<string>();
  if (intent) return <p>Thank you! Your payment is {intent}.</p>;
  return (
    <>
      <p>
        Tea, {quantity} for ${(quantity * 4.5).toFixed(2)}.{' '}
        <button type="button" onClick={() => setQuantity((quantity % 3) + 1)}>
          Change
        </button>
      </p>
      <intent-button order={{ article: 'tea', quantity }} onsuccess={(event) => setIntent(event.detail.intent)} />
    </>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(<App />);
