import { QueueFullError } from "./errors.js";

interface SemaphoreOptions {
  /** How many can be taken at once. */
  places: number;
  /** How many of them one owner can take; all by default. */
  placesEach?: number;
  /** How many of them the owners of one group can take together; all by default. */
  placesOfGroup?: number;
  /** How many callers may wait for a place; further ones are refused. */
  waitingMax: number;
  /** How many places one group may have taken or wait for; unlimited by default. */
  each?: number;
  /** Callers that have waited this long are refused. */
  waitMsMax: number;
  /** The reason that a refusal gives; by default that of QueueFullError. */
  reason?: string;
  /** The reason if a group has reached `each`; by default `reason`. */
  reasonEach?: string;
}

/** Who asks for a place; always with the same group. */
interface Owner {
  owner: string;
  group: string;
}

/**
 * A bounded number of places for work that takes long. Owners take turns; each gets places in the order in which it asked for them. An owner
 * for whom no group is named is a group of its own.
 */
export class Semaphore {
  /** The callers that wait, by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<string, { group: string; callers: Set<() => void> }>();
  /** Who has taken each place. */
  readonly #taken: Owner[] = [];

  constructor(private readonly options: SemaphoreOptions) {}

  /** Runs `work` once it has a place. Throws QueueFullError if there is none in time, or if the group has reached `each`. */
  async run<T>(work: () => Promise<T>, owner = "", group = owner): Promise<T> {
    const leave = await this.take(owner, group);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Takes a place, and returns a function that releases it; further calls of that function do nothing. Throws as `run` does. */
  async take(owner: string, group = owner): Promise<() => void> {
    const { each = Infinity, reason, reasonEach = reason } = this.options;
    if (this.#heldBy(group) >= each) throw new QueueFullError(reasonEach);
    const taker = { owner, group };
    if (this.#isFreeFor(taker)) this.#taken.push(taker);
    else await this.#wait(taker);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#leave(owner);
    };
  }

  /** Throws QueueFullError if no further caller can wait now. */
  requireRoom(): void {
    const { waitingMax, reason } = this.options;
    let waiting = 0;
    for (const { callers } of this.#waiting.values()) waiting += callers.size;
    if (waiting >= waitingMax) throw new QueueFullError(reason);
  }

  /** How many places the owners of a group have taken or wait for. */
  #heldBy(group: string): number {
    let held = this.#taken.filter((each) => each.group === group).length;
    for (const line of this.#waiting.values()) if (line.group === group) held += line.callers.size;
    return held;
  }

  #isFreeFor({ owner, group }: Owner): boolean {
    const { places, placesEach = places, placesOfGroup = places } = this.options;
    if (this.#taken.length >= places) return false;
    const ofGroup = this.#taken.filter((each) => each.group === group);
    return ofGroup.length < placesOfGroup && ofGroup.filter((each) => each.owner === owner).length < placesEach;
  }

  /** Resolves once the owner has entered a place. */
  #wait({ owner, group }: Owner): Promise<void> {
    const { waitMsMax, reason } = this.options;
    return new Promise((resolve, reject) => {
      this.requireRoom();
      const line = this.#waiting.get(owner) ?? { group, callers: new Set() };
      this.#waiting.set(owner, line);
      const giveUp = setTimeout(() => {
        this.#stepOut(owner, enter);
        reject(new QueueFullError(reason));
      }, waitMsMax);
      const enter = (): void => {
        clearTimeout(giveUp);
        resolve();
      };
      line.callers.add(enter);
    });
  }

  #stepOut(owner: string, enter: () => void): void {
    const callers = this.#waiting.get(owner)?.callers;
    callers?.delete(enter);
    if (callers?.size === 0) this.#waiting.delete(owner);
  }

  #leave(owner: string): void {
    this.#taken.splice(
      this.#taken.findIndex((each) => each.owner === owner),
      1,
    );
    for (const [next, line] of this.#waiting) {
      const taker = { owner: next, group: line.group };
      if (!this.#isFreeFor(taker)) continue;
      const [enter] = line.callers;
      this.#stepOut(next, enter!);
      // An owner with more callers that wait goes to the end of the line.
      if (line.callers.size > 0) {
        this.#waiting.delete(next);
        this.#waiting.set(next, line);
      }
      this.#taken.push(taker);
      enter!();
      return;
    }
  }
}
