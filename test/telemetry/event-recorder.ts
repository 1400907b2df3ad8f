import { setImmediate } from 'node:timers/promises';
import type { RouterEvent, RouterEventType } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { checkForSecrets } from '../support/runner/watch-for-leaks.js';

type EventOf<Type extends RouterEventType> = Extract<RouterEvent, { readonly type: Type }>;

/** Records the events of a router, which must not contain secrets. */
export class EventRecorder {
  readonly events: RouterEvent[] = [];

  readonly onEvent = (event: RouterEvent): void => {
    this.events.push(event);
    checkForSecrets('an event', JSON.stringify(event));
  };

  of<Type extends RouterEventType>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  /** Resolves with the events of a type once there are `count`, possibly with later ones. */
  async times<Type extends RouterEventType>(count: number, type: Type): Promise<EventOf<Type>[]> {
    await eventually(`${type} was emitted ${count} times`, () => this.of(type).length >= count);
    // Each event is emitted in its own turn.
    await setImmediate();
    return this.of(type);
  }

  /** Resolves with the first event of a type, of a given intent if `id` is set. */
  async first<Type extends RouterEventType>(type: Type, intent?: string): Promise<EventOf<Type>> {
    const find = (): EventOf<Type> | undefined =>
      this.of(type).find((event) => intent === undefined || (event as { intent?: string }).intent === intent);
    await eventually(`${type} was emitted`, () => find() !== undefined);
    return find() as EventOf<Type>;
  }
}
