/** The queue of one sequential sender: items are gathered while the previous ones are under way. */
export class Partition<T> {
  #filling: T[] = [];
  #underWay: Promise<void> = Promise.resolve();

  /** @param size how many items `send` gets at once; the last time possibly fewer */
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

  /** Waits for the previous items, then sends these. */
  async #dispatch(): Promise<void> {
    await this.#underWay;
    const items = this.#filling;
    this.#filling = [];
    this.#underWay = this.send(items);
    // Avoid an unhandled rejection; the next await gets it.
    this.#underWay.catch(() => undefined);
  }

  /** Resolves when nothing is under way any more, even after a failure. */
  async settled(): Promise<void> {
    await this.#underWay.catch(() => undefined);
  }
}
