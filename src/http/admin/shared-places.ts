import { QueueFullError } from "../unavailable.js";
import { Places, type PlacesOptions } from "./places.js";

export interface SharedPlacesOptions extends PlacesOptions {
  /** How many one organization may have, waiting or at work, so that it leaves some to the others. */
  placesEach: number;
  /** What an organization is told that has as many. */
  reasonEach: string;
}

/** Places that organizations share: work whose length others decide, such as receivers of webhooks, holds up nobody else's. */
export class SharedPlaces {
  readonly #places: Places;
  readonly #options: SharedPlacesOptions;
  readonly #underWay = new Map<string, number>();

  constructor(options: SharedPlacesOptions) {
    this.#options = options;
    const { places, waitingMax, waitMsMax, reason } = options;
    this.#places = new Places({ places, waitingMax, waitMsMax, ...(reason === undefined ? {} : { reason }) });
  }

  /** Does a piece of work once there is a place for it. Throws QueueFullError where there is none in time, or the organization has as many as it may. */
  async run<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.take(organizationId);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Takes a place; what it resolves with gives it back, once. Throws as `run` does. */
  async take(organizationId: string): Promise<() => void> {
    const count = this.#underWay.get(organizationId) ?? 0;
    if (count >= this.#options.placesEach) throw new QueueFullError(this.#options.reasonEach);
    this.#underWay.set(organizationId, count + 1);
    try {
      const leave = await this.#places.take();
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        leave();
        this.#leave(organizationId);
      };
    } catch (error) {
      this.#leave(organizationId);
      throw error;
    }
  }

  #leave(organizationId: string): void {
    const left = this.#underWay.get(organizationId)! - 1;
    if (left > 0) this.#underWay.set(organizationId, left);
    else this.#underWay.delete(organizationId);
  }
}
