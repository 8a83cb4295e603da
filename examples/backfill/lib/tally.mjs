// What a source comes to, for comparing it with what the service has.
import { Mistake } from "./mistake.mjs";
import { count } from "./progress.mjs";

/** Of more the memory might not suffice to know them again. */
const KEYS_MAX = 5_000_000;

export class Tally {
  events = 0;
  identifies = 0;
  leftOut = 0;
  rejected = 0;
  #customers = new Set();
  #first = Infinity;
  #last = -Infinity;
  #ahead = 0;
  #now = Date.now();
  #sum = 0n;
  #isSummed = false;
  /** Properties that are numbers, until there is one to be added up. */
  #numbers = new Set();
  #keys = null;
  #keysTwice = new Set();

  /** @param property of events, whose values are added up; or undefined @param keys whether to tell which stand more than once */
  constructor(property, { keys = false } = {}) {
    this.property = property;
    if (keys) this.#keys = new Set();
  }

  add(operation) {
    if (operation === null) {
      this.leftOut++;
      return;
    }
    this.#customers.add(operation.customerId);
    if (operation.type === "identify") {
      this.identifies++;
      return;
    }
    this.events++;
    const at = Date.parse(operation.timestamp);
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at);
    if (at > this.#now) this.#ahead++;
    if (this.#keys !== null) this.#note(operation.idempotencyKey);
    if (this.property !== undefined) this.#addUp(operation.properties ?? {});
  }

  #note(key) {
    if (this.#keys.has(key)) this.#keysTwice.add(key);
    else if (this.#keys.size < KEYS_MAX) this.#keys.add(key);
  }

  #addUp(properties) {
    const value = properties[this.property];
    if (typeof value === "number") {
      this.#isSummed = true;
      // Millionths, so that tenths and hundredths are added up without an error.
      this.#sum += BigInt(Math.round(value * 1e6));
    } else if (!this.#isSummed) {
      for (const [name, other] of Object.entries(properties)) if (typeof other === "number") this.#numbers.add(name);
    }
  }

  /** Whether the source has no operation that was sent. */
  get isEmpty() {
    return this.events + this.identifies === 0;
  }

  /** Throws a Mistake where there are events and none has what is to be added up. */
  requireSum() {
    if (this.property === undefined || this.#isSummed || this.events === 0) return;
    const names = [...this.#numbers].toSorted();
    const there = names.length > 1 ? `there are ${names.join(", ")}` : `there is ${names[0] ?? "none"}`;
    throw new Mistake(`--sum ${this.property}: no event has a number of this name; ${there}`);
  }

  /** The figures by name, as they are printed. */
  figures() {
    const figures = [["events", count(this.events)]];
    if (this.identifies > 0) figures.push(["traits", `${count(this.identifies)} identify operations`]);
    figures.push(["customers", count(this.#customers.size)]);
    if (this.events > 0) figures.push(["from", iso(this.#first)], ["to", iso(this.#last)]);
    if (this.#ahead > 0) figures.push(["ahead of now", count(this.#ahead, "event")]);
    if (this.#keysTwice.size > 0) figures.push(["repeated keys", `${count(this.#keysTwice.size)}, each stored once`]);
    if (this.property !== undefined)
      figures.push([
        `sum of ${this.property}`,
        this.#isSummed || this.events === 0 ? decimal(this.#sum) : "no event has a number of this name",
      ]);
    if (this.leftOut > 0) figures.push(["left out", `${count(this.leftOut, "row")}, by the mapping`]);
    if (this.rejected > 0) figures.push(["rejected", `${count(this.rejected, "row")}`]);
    return figures;
  }
}

function iso(instant) {
  return new Date(instant).toISOString();
}

function decimal(millionths) {
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(7, "0");
  const fraction = digits.slice(-6).replace(/0+$/, "");
  return `${millionths < 0n ? "-" : ""}${digits.slice(0, -6)}${fraction === "" ? "" : `.${fraction}`}`;
}
