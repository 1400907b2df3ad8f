type Attributes = Readonly<Record<string, string | number>>;
type Tags = HTMLElementTagNameMap & Pick<SVGElementTagNameMap, 'svg' | 'path'>;

/** Makes an element, of HTML or of a drawing. */
export function make<Name extends keyof Tags>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): Tags[Name] {
  const isDrawing = /svg|path/.test(name);
  const element = (
    isDrawing ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name)
  ) as Tags[Name];
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value as string);
  element.append(...children);
  return element;
}

/** A drawing that says nothing to those who cannot see it, in a square of 24. */
export const drawing: Attributes = { viewBox: '0 0 24 24', 'aria-hidden': 'true' };
