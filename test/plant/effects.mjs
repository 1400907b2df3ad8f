// The effects of planted bugs. Each changes one named function, method or constant of a module on its syntax tree, and throws
// if it does not find what it changes. No effect contains a line of the sources, so a refactoring rarely touches one.
import { parseSync } from '@swc/core';

/** @typedef {{ start: number, end: number, text: string }} Edit bytes of the source and what replaces them */
/** @typedef {(target: Target) => Edit[]} Effect */

/** A syntax tree, or the part of it that is the anchor of a bug. */
class Target {
  /** @param {Buffer} source @param {object} node */
  constructor(source, node) {
    this.source = source;
    this.node = node;
  }

  /** The text of a node. Positions are bytes from 1. */
  textOf = ({ span }) => this.source.subarray(span.start - 1, span.end - 1).toString();

  edit = ({ span }, text) => ({ start: span.start - 1, end: span.end - 1, text });

  /** The nodes below the anchor. @param {(node: object) => boolean} accepts */
  find(accepts) {
    return [...nodesIn(this.node)].filter(accepts);
  }
}

function* nodesIn(value) {
  if (typeof value !== 'object' || value === null) return;
  if (typeof value.type === 'string') yield value;
  for (const child of Object.values(value)) yield* nodesIn(child);
}

/** The name that a node declares: of a function, a class, a method or a constant. */
function nameOf(node) {
  if (node.type === 'PrivateMethod') return `#${node.key.value}`;
  if (node.type === 'ClassMethod' || node.type === 'MethodProperty') return node.key.value;
  return node.type === 'VariableDeclarator' ? node.id.value : node.identifier?.value;
}

/** The body of a function or method; of a constant that holds an arrow function, the body of that function. */
function bodyOf({ init, function: method, body }) {
  return (init ?? method)?.body ?? body;
}

function requireSome(found, what) {
  if (found.length === 0) throw new Error(`no ${what}`);
  return found;
}

const calleeOf = ({ callee }) => callee.value ?? callee.property?.value;
const callsOf = (target, name) =>
  requireSome(
    target.find((node) => node.type === 'CallExpression' && calleeOf(node) === name),
    `call of ${name}`,
  );

/** The function returns this expression at once. @returns {Effect} */
export const returns = (expression) => (target) => {
  const body = bodyOf(target.node);
  if (!body) throw new Error('no body');
  return [target.edit(body, body.stmts ? `{ return ${expression}; }` : `(${expression})`)];
};

/** Calls of `callee` become another expression. @param {(args: string[], call: string) => string} text @returns {Effect} */
export const replaces = (callee, text) => (target) =>
  callsOf(target, callee).map((call) =>
    target.edit(
      call,
      text(
        call.arguments.map(({ expression }) => target.textOf(expression)),
        target.textOf(call),
      ),
    ),
  );

/** The function does not call `callee`. @returns {Effect} */
export const skips = (callee) => replaces(callee, () => 'undefined');

/** The conditions of `if` that mention this name always, or never, hold. @returns {Effect} */
const condition = (name, value) => (target) =>
  requireSome(
    target.find(
      (node) =>
        node.type === 'IfStatement' &&
        [...nodesIn(node.test)].some((part) => part.type === 'Identifier' && part.value === name),
    ),
    `if with ${name}`,
  ).map(({ test }) => target.edit(test, value));
export const always = (name) => condition(name, 'true');
export const never = (name) => condition(name, 'false');

/** The statements that call `first` and `second` swap places. @returns {Effect} */
export const swaps = (first, second) => (target) => {
  const has = (name) => (node) =>
    [...nodesIn(node)].some((part) => part.type === 'CallExpression' && calleeOf(part) === name);
  const [block] = requireSome(
    target
      .find(({ stmts }) => Array.isArray(stmts))
      .filter(({ stmts }) => stmts.some((one) => one.type === 'ExpressionStatement' && has(first)(one)))
      .filter(({ stmts }) => stmts.some((one) => one.type === 'ExpressionStatement' && has(second)(one))),
    `block with ${first} and ${second}`,
  ).slice(-1);
  const [one, other] = [first, second].map((name) => block.stmts.find(has(name)));
  return [target.edit(one, target.textOf(other)), target.edit(other, target.textOf(one))];
};

/** A text of SQL in the anchor changes: every match of the pattern. @returns {Effect} */
export const sql = (pattern, text) => (target) => {
  const edits = target
    .find(({ type }) => type === 'TemplateElement' || type === 'StringLiteral')
    .map((part) => [part, target.textOf(part).replaceAll(pattern, text)])
    .filter(([part, changed]) => changed !== target.textOf(part))
    .map(([part, changed]) => target.edit(part, changed));
  return requireSome(edits, `SQL with ${pattern}`);
};

/** The comparison of this column with a parameter always holds. @param {string} type of the parameter @returns {Effect} */
export const ignoresColumn = (column, type) =>
  sql(new RegExp(`\\b${column} = (\\$\\d+)(?:::\\w+)?`, 'g'), `($1::${type} is not null)`);

/** The source with the effects, one after the other. @throws {Error} if an anchor is missing */
export function plantInto(text, { anchor, effects }) {
  return effects.reduce((source, effect) => {
    const bytes = Buffer.from(source);
    const tree = parseSync(source, { syntax: 'typescript', target: 'es2022' });
    const anchors = new Target(bytes, tree).find((node) => nameOf(node) === anchor && nodeTypes.has(node.type));
    if (anchors.length !== 1) throw new Error(`${anchors.length} functions or constants have the name ${anchor}`);
    const edits = effect(new Target(bytes, anchors[0])).sort((one, other) => other.start - one.start);
    return edits
      .reduce(
        (rest, { start, end, text }) => Buffer.concat([rest.subarray(0, start), Buffer.from(text), rest.subarray(end)]),
        bytes,
      )
      .toString();
  }, text);
}

const nodeTypes = new Set(['FunctionDeclaration', 'VariableDeclarator', 'ClassMethod', 'PrivateMethod']);
