import { make } from './make.js';

/** A message as a tree that can be folded. */
export function messageView(content) {
  if (content === undefined) return make('p', { className: 'hint' }, 'It was too large to be kept, or cannot be read.');
  if (Object.keys(content).length === 0)
    return make('p', { className: 'hint' }, 'It is empty, which says all is well.');
  return make('div', { className: 'tree' }, branches(content));
}

function branches(content) {
  return make('ul', {}, ...Object.entries(content).map(([name, value]) => branch(name, value)));
}

function branch(name, value) {
  const label = make('span', { className: 'name' }, name);
  if (typeof value !== 'object') return make('li', {}, label, ' ', leaf(value));
  const count = Object.keys(value).length;
  if (count === 0) return make('li', {}, label, ' ', make('span', { className: 'hint' }, 'empty'));
  return make('li', {}, make('details', { open: true }, make('summary', {}, label), branches(value)));
}

function leaf(value) {
  return make('span', { className: typeof value === 'string' ? 'text' : 'number' }, String(value));
}
