import { setImmediate } from 'node:timers/promises';
import type { RouterEvent, RouterEventType } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { look } from '../support/runner/watch-for-leaks.js';

type EventOf<Type extends RouterEventType> = Extract<RouterEvent, { readonly type: Type }>;

/** Keeps what a router tells, none of which may be secret. */
export class EventRecorder {
  readonly events: RouterEvent[] = [];

  readonly onEvent = (event: RouterEvent): void => {
    this.events.push(event);
    look('an event', JSON.stringify(event));
  };

  of<Type extends RouterEventType>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  /** The events of a type, once so many were told; more of them that were under way are among them. */
  async times<Type extends RouterEventType>(count: number, type: Type): Promise<EventOf<Type>[]> {
    await eventually(`${type} was told ${count} times`, () => this.of(type).length >= count);
    // Each is told in a turn of its own.
    await setImmediate();
    return this.of(type);
  }

  /** The first event of a type, of an intent where one is named, once it was told. */
  async told<Type extends RouterEventType>(type: Type, intent?: string): Promise<EventOf<Type>> {
    const find = (): EventOf<Type> | undefined =>
      this.of(type).find((event) => intent === undefined || (event as { intent?: string }).intent === intent);
    await eventually(`${type} was told`, () => find() !== undefined);
    return find() as EventOf<Type>;
  }
}
