/** What an option may be. Without zod, which nothing else needs at start, and which takes longer to load than all of ours. */
export interface Form {
  /** As in "Make it text." */
  readonly name: string;
  readonly fits: (value: unknown) => boolean;
}

export const text: Form = { name: 'text', fits: (value) => typeof value === 'string' };
export const texts: Form = { name: 'a list of texts', fits: (value) => Array.isArray(value) && value.every(text.fits) };
export const number: Form = { name: 'a number', fits: Number.isFinite };
export const aBoolean: Form = { name: 'true or false', fits: (value) => typeof value === 'boolean' };
export const aFunction: Form = { name: 'a function', fits: (value) => typeof value === 'function' };

/** An object, or a function, of which only these properties are looked at: the others may be anybody's secrets. */
export function withFunctions(...names: string[]): Form {
  const fits = (value: unknown): boolean => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
  };
  return { name: names.length > 0 ? `an object with ${names.join(' and ')}` : 'an object', fits };
}

export function orFalse({ name, fits }: Form): Form {
  return { name: `${name}, or false`, fits: (value) => value === false || fits(value) };
}

export function eitherOf(...forms: readonly Form[]): Form {
  return {
    name: forms.map(({ name }) => name).join(', or '),
    fits: (value) => forms.some(({ fits }) => fits(value)),
  };
}
