import { Places, type PlacesOptions } from "./places.js";

interface Own {
  places: Places;
  /** How many of the organization wait or are at work. */
  users: number;
}

/** Places of which an organization has one at a time: whoever asks for another waits for its own first, and so keeps nobody else waiting. */
export class PlacesEach {
  readonly #places: Places;
  readonly #own = new Map<string, Own>();

  /** @param options of the places of all, and, but for `places`, of those who wait in an organization */
  constructor(private readonly options: PlacesOptions) {
    this.#places = new Places(options);
  }

  /** Takes a place; what it resolves with gives it back, once. Throws QueueFullError where there is none in time. */
  async take(organizationId: string): Promise<() => void> {
    const own = this.#own.get(organizationId) ?? { places: new Places({ ...this.options, places: 1 }), users: 0 };
    this.#own.set(organizationId, own);
    own.users += 1;
    const leaves = [() => this.#forget(organizationId, own)];
    const leaveAll = () => {
      for (const leave of leaves.splice(0)) leave();
    };
    try {
      leaves.push(await own.places.take());
      leaves.push(await this.#places.take());
      return leaveAll;
    } catch (error) {
      leaveAll();
      throw error;
    }
  }

  #forget(organizationId: string, own: Own): void {
    own.users -= 1;
    if (own.users === 0) this.#own.delete(organizationId);
  }
}
