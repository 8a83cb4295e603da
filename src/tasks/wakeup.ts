/** Lets a loop sleep until somebody calls or time is up. A call while the loop is busy is not lost: its next sleep ends at once. */
export class Wakeup {
  #called = false;
  #wake: (() => void) | null = null;

  call(): void {
    this.#called = true;
    this.#wake?.();
  }

  async sleep(milliseconds: number): Promise<void> {
    if (!this.#called) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    this.#called = false;
  }
}
