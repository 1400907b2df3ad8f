type Attributes = Readonly<Record<string, string | number>>;
type Tags = HTMLElementTagNameMap & Pick<SVGElementTagNameMap, 'svg' | 'path'>;

/** Creates an HTML or SVG element with attributes and children. */
export function buildElement<Name extends keyof Tags>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): Tags[Name] {
  const isSvg = /svg|path/.test(name);
  const element = (
    isSvg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name)
  ) as Tags[Name];
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value as string);
  element.append(...children);
  return element;
}

/** The attributes of a decorative drawing of 24 by 24 units. */
export const svgAttributes: Attributes = { viewBox: '0 0 24 24', 'aria-hidden': 'true' };
