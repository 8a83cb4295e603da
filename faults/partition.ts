/** What waits for one sequential sender: items that gather while those before them are under way. */
export class Partition<T> {
  #filling: T[] = [];
  #underWay: Promise<void> = Promise.resolve();

  /** @param size how many items `send` gets at once; the last time, perhaps fewer */
  constructor(
    private readonly size: number,
    private readonly send: (items: readonly T[]) => Promise<void>,
  ) {}

  async push(item: T): Promise<void> {
    this.#filling.push(item);
    if (this.#filling.length === this.size) await this.#dispatch();
  }

  async finish(): Promise<void> {
    if (this.#filling.length > 0) await this.#dispatch();
    await this.#underWay;
  }

  /** Waits for the items before, and lets these go. */
  async #dispatch(): Promise<void> {
    await this.#underWay;
    const items = this.#filling;
    this.#filling = [];
    this.#underWay = this.send(items);
    // Whoever awaits next gets the rejection.
    this.#underWay.catch(() => undefined);
  }

  /** Resolves when nothing is under way any more, however that ended. */
  async settled(): Promise<void> {
    await this.#underWay.catch(() => undefined);
  }
}
