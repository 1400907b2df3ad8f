import {
  createElement,
  type ForwardRefExoticComponent,
  forwardRef,
  type HTMLAttributes,
  type RefAttributes,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  version,
} from 'react';
import type { ButtonEvents, ButtonHandler, ButtonOptions, EventName, IntentButtonElement } from './elements.js';
import './elements.js';
import { attributeOf, isJsonOrder, optionNames } from './button-options.js';

// A component, because React sets no properties and adds no listeners when it hydrates a custom element that the server has
// rendered, and because React 18 sets attributes only.

type Handlers = { readonly [Name in EventName as `on${Capitalize<Name>}`]?: ButtonHandler<Name> | undefined };

/** The options of the button, the handlers of its events, and attributes such as `className`. */
export interface IntentButtonProps
  extends ButtonOptions,
    Handlers,
    Omit<HTMLAttributes<IntentButtonElement>, keyof ButtonOptions | keyof Handlers> {
  readonly disabled?: boolean | undefined;
}

const eventsByHandler: Record<keyof Handlers, EventName> = {
  onInvoke: 'invoke',
  onScanned: 'scanned',
  onSuccess: 'success',
  onCancel: 'cancel',
  onError: 'error',
};

/** The elements that have the handlers of their component. They keep them: a removed button still reports its payment. */
const listening = new WeakSet<IntentButtonElement>();

// On the server, React 18 warns about layout effects.
const useEffectBeforePaint = typeof document === 'undefined' ? useEffect : useLayoutEffect;

/**
 * `<intent-button>` as a component, for React 18 and later. Options are props, and handlers get the detail of their event. A ref
 * is the element.
 * @example <IntentButton order={{ article: 'tea' }} onSuccess={({ intent }) => location.assign(`/thanks/${intent}`)} />
 */
export const IntentButton: ForwardRefExoticComponent<IntentButtonProps & RefAttributes<IntentButtonElement>> =
  forwardRef(function IntentButton(props: IntentButtonProps, ref) {
    const { className, ...rest } = props as Record<string, unknown>;
    for (const name of [...optionNames, ...Object.keys(eventsByHandler)]) delete rest[name];
    const element = useRef<IntentButtonElement>(null);
    const newest = useRef<Handlers>(props);
    // Those of the first rendering. Later the properties count.
    const [attributes] = useState(() => attributesOf(props));
    useImperativeHandle(ref, () => element.current as IntentButtonElement, []);
    useEffectBeforePaint(() => {
      newest.current = props;
      for (const name of optionNames) {
        if (element.current?.[name] !== props[name])
          Object.assign(element.current as IntentButtonElement, { [name]: props[name] });
        // An option that is removed later must not come back as an attribute.
        const attribute = attributeOf(name);
        if (attribute && attribute !== 'appearance') element.current?.removeAttribute(attribute);
      }
    });
    useEffectBeforePaint(() => {
      const button = element.current as IntentButtonElement;
      if (!listening.has(button)) {
        listening.add(button);
        for (const [prop, event] of Object.entries(eventsByHandler)) {
          button.on(event, (detail: ButtonEvents[EventName]): unknown =>
            newest.current[prop as keyof Handlers]?.(detail as never),
          );
        }
      }
      button.removeAttribute('data-hydrating');
    }, []);
    return createElement('intent-button', { ...attributes, class: className, ...plainAttributes(rest), ref: element });
  });

/** React 18 writes `false` into attributes of custom elements, where it means true: `disabled="false"`. */
function plainAttributes(rest: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!version.startsWith('18.')) return rest;
  const isText = (name: string): boolean => /^(?:aria-|data-|draggable$|spellCheck$|contentEditable$)/.test(name);
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) =>
      typeof value === 'boolean' && !isText(name) ? [name, value ? '' : undefined] : [name, value],
    ),
  );
}

/** Only the orders that an attribute can carry: text, and JSON of an object. */
function attributesOf(props: ButtonOptions): Record<string, unknown> {
  const { order } = props;
  const isText = typeof order === 'string' && !isJsonOrder(order);
  const isObject = typeof order === 'object' && order !== null;
  const carried = isText ? order : isObject ? JSON.stringify(order) : undefined;
  const given = optionNames.map((name) => [attributeOf(name), name === 'order' ? carried : props[name]]);
  const rendered = given.filter(([attribute, value]) => attribute && value !== undefined);
  return { 'data-hydrating': '', ...Object.fromEntries(rendered) };
}
