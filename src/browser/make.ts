type Attributes = Readonly<Record<string, string | number>>;

/** Makes an HTML element. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

/** Makes an SVG element. */
export function svg(name: string, attributes: Attributes, ...children: Node[]): SVGElement {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name) as SVGElement, attributes, children);
}

function fill<Made extends Element>(element: Made, attributes: Attributes, children: (Node | string)[]): Made {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
