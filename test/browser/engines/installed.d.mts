export function firefoxPath(): string | undefined;
export function miniBrowserPath(): string | undefined;
export function missingPackages(): string[];
