import { IntentButton } from 'express-intents/react';
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
      <IntentButton order={{ article: 'tea', quantity }} onSuccess={(success) => setIntent(success.intent)} />
    </>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(<App />);
