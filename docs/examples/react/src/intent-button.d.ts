import type { IntentButton, IntentButtonAttributes, IntentButtonEventMap } from 'express-intents/elements';
import type { DetailedHTMLProps, HTMLAttributes } from 'react';

type Events = { [Name in keyof IntentButtonEventMap as `on${Name}`]?: (event: IntentButtonEventMap[Name]) => void };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'intent-button': DetailedHTMLProps<HTMLAttributes<IntentButton>, IntentButton> & IntentButtonAttributes & Events;
    }
  }
}
