/** Counts the requests that are being answered, so that closing can wait for them. */
export class RunningRequests {
  #count = 0;
  #whenIdle: (() => void) | undefined;

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#whenIdle?.();
  }

  /** Resolves when none is left, or after `mostMs` milliseconds: a request may wait for somebody who never answers. */
  async idle(mostMs: number): Promise<void> {
    if (this.#count === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, mostMs).unref();
    });
    clearTimeout(timer);
  }
}
