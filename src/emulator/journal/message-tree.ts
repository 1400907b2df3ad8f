import { formatBase58 } from '../../keys/base58.js';

/** A message as JSON, for a person: by the names of the interface, without the boxes that only hold a value. */
export type MessageTree = string | number | boolean | readonly MessageTree[] | { readonly [name: string]: MessageTree };

/** The names of an enumeration by their numbers. */
type Names = Readonly<Record<number, string>>;

/** @param results the names of the field `result`, where the message has one */
export function messageTree(message: object, results?: Names): MessageTree {
  const fields: Record<string, MessageTree> = {};
  // With those that are not set: that a flag is false is worth knowing.
  for (const name in message) {
    const value: unknown = (message as Record<string, unknown>)[name];
    const isSet = Object.hasOwn(message, name);
    if (name === 'result' && results) fields[name] = results[Number(value)] ?? String(value);
    else if (isSet ? value !== null && value !== undefined : typeof value === 'boolean') {
      fields[inSnakeCase(name)] = valueTree(value);
    }
  }
  return fields;
}

function valueTree(value: unknown): MessageTree {
  if (value instanceof Uint8Array) return value.length === 32 ? formatBase58(value) : hex(value);
  if (Array.isArray(value)) return value.map(valueTree);
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? value : textOrFlag(value);
  if (isLong(value)) return String(value);
  if ('seconds' in value) return instant(value as { seconds: unknown; nanos?: unknown });
  const names = Object.keys(value);
  const [only = ''] = names;
  const isBox = names.length === 1 && (only === 'value' || only === 'domain');
  return isBox ? valueTree((value as Record<string, unknown>)[only]) : messageTree(value);
}

const textOrFlag = (value: unknown): string | boolean => (typeof value === 'boolean' ? value : String(value));

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const isLong = (value: object): boolean => 'low' in value && 'high' in value;

function instant({ seconds, nanos }: { seconds: unknown; nanos?: unknown }): string {
  const date = new Date(Number(seconds) * 1000 + Math.floor(Number(nanos ?? 0) / 1e6));
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString();
}

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
