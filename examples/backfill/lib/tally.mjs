// What a source comes to, for comparing it with what the service has.
import { count } from "./progress.mjs";

export class Tally {
  events = 0;
  identifies = 0;
  leftOut = 0;
  rejected = 0;
  #customers = new Set();
  #first = Infinity;
  #last = -Infinity;
  #sum = 0n;

  /** @param property of events, whose values are added up; or undefined */
  constructor(property) {
    this.property = property;
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
    const value = operation.properties?.[this.property];
    // Millionths, so that tenths and hundredths are added up without an error.
    if (typeof value === "number") this.#sum += BigInt(Math.round(value * 1e6));
  }

  /** The figures by name, as they are printed. */
  figures() {
    const figures = [["events", count(this.events)]];
    if (this.identifies > 0) figures.push(["traits", `${count(this.identifies)} identify operations`]);
    figures.push(["customers", count(this.#customers.size)]);
    if (this.events > 0) figures.push(["from", iso(this.#first)], ["to", iso(this.#last)]);
    if (this.property !== undefined) figures.push([`sum of ${this.property}`, decimal(this.#sum)]);
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
