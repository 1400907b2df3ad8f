/** The events in the dialog that the page does not hear: its cart closes with Escape, or with a click somewhere else. */
const containedEvents = [
  ...['keydown', 'keyup', 'keypress', 'click', 'dblclick', 'auxclick', 'contextmenu', 'wheel', 'focusin', 'focusout'],
  ...['down', 'up', 'move', 'over', 'out'].flatMap((name) => [`mouse${name}`, `pointer${name}`]),
  ...['pointercancel', 'touchstart', 'touchmove', 'touchend', 'touchcancel', 'copy', 'selectstart', 'dragstart'],
];

/** Keeps the events in the dialog from the page. */
export function containEvents(dialog: HTMLElement, root: ShadowRoot): void {
  for (const name of containedEvents) {
    dialog.addEventListener(name, (event) => event.stopPropagation(), { passive: true });
  }
  // Escape is released when the dialog has closed, and the button has the focus again.
  root.addEventListener('keyup', (event) => (event as KeyboardEvent).key === 'Escape' && event.stopPropagation());
}

/** The events that scroll a page. */
const scrollEvents = ['wheel', 'touchmove', 'keydown'];

/** Lets the visitor scroll the dialog, but not the page behind it, until the returned function is called. */
export function keepPageStill(dialog: HTMLElement): () => void {
  const keepStill = (event: Event): void => {
    const { key, touches = [event], ctrlKey } = event as KeyboardEvent & TouchEvent;
    const canScroll = dialog.scrollHeight > dialog.clientHeight;
    if (key) {
      // A space presses a button.
      const isSpace = key === ' ' && !(event.composedPath()[0] instanceof HTMLButtonElement);
      if (!canScroll && (isSpace || /^(Arrow|Page|Home|End)/.test(key))) event.preventDefault();
      return;
    }
    const { clientX: x, clientY: y } = touches[0] as Touch;
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const isInside = x > left && x < right && y > top && y < bottom;
    const isZoom = ctrlKey || touches.length > 1;
    if (!isZoom && !(isInside && canScroll)) event.preventDefault();
  };
  // At the window, because a listener of the dialog can be too late for the area of its backdrop.
  for (const name of scrollEvents) addEventListener(name, keepStill, { capture: true, passive: false });
  return () => {
    for (const name of scrollEvents) removeEventListener(name, keepStill, { capture: true });
  };
}
