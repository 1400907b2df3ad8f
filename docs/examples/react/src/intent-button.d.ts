import type { ButtonEvents, IntentButton, IntentButtonAttributes } from 'express-intents/elements';
import type { DetailedHTMLProps, HTMLAttributes } from 'react';

type Events = { [Name in keyof ButtonEvents as `on${Name}`]?: (event: CustomEvent<ButtonEvents[Name]>) => void };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'intent-button': DetailedHTMLProps<HTMLAttributes<IntentButton>, IntentButton> & IntentButtonAttributes & Events;
    }
  }
}
