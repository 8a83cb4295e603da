import { isDuration, isIsoDate, parseDuration } from "../../model/snapshot/duration.js";
import { nearest } from "../../model/snapshot/suggestion.js";
import { type AnyCommand, type Option, sharedOptions } from "./command.js";
import { UsageError } from "./errors.js";

/** The name of an option on the command line: `idempotencyKey` is `idempotency-key`. */
export function optionName(key: string): string {
  return key.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}

/**
 * The values of arguments and options, from the parser's strings, booleans and lists. @throws {UsageError} for a value that an option does
 * not take
 */
export function readValues(command: AnyCommand, raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, positional] of Object.entries(command.args ?? {})) {
    const { optional = false, choices } = typeof positional === "string" ? {} : positional;
    const isGiven = !optional || raw[name] !== undefined;
    values[name] = isGiven ? chosen(`<${name}>`, text(`<${name}>`, raw[name]), choices) : undefined;
  }
  for (const [key, option] of Object.entries({ ...command.options, ...sharedOptions })) {
    const name = optionName(key);
    values[key] = readOption(`--${name}`, option, raw[name]);
  }
  return values;
}

function readOption(name: string, option: Option, given: unknown): unknown {
  switch (option.type) {
    case "flag":
      return Array.isArray(given) ? given.at(-1) === true : given === true;
    case "list":
      return (Array.isArray(given) ? given : []).map((value) => text(name, value));
    case "integer":
      return given === undefined ? option.default : integer(name, text(name, given), option.min, option.max);
    case "text":
      return given === undefined ? undefined : chosen(name, text(name, given), option.choices);
  }
}

function text(name: string, given: unknown): string {
  if (Array.isArray(given)) throw new UsageError(`${name} was given ${given.length} times`, "give it once");
  if (typeof given !== "string" || given === "") throw new UsageError(`${name} needs a value`);
  return given;
}

function integer(name: string, given: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(given) ? Number(given) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} is ${JSON.stringify(given)}`, `give a whole number from ${min} to ${max}`);
}

function chosen(name: string, value: string, choices: readonly string[] | undefined): string {
  if (choices === undefined || choices.includes(value)) return value;
  const meant = nearest(value, choices);
  const message = `${name} is ${JSON.stringify(value)}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  const fix = `give one of: ${choices.join(", ")}`;
  throw new UsageError(message, fix);
}

/** Checks a length of time, such as 24h. @param option its name as typed, such as `--grace` */
export function checkDurationOption(option: string, text: string | undefined, also = ""): void {
  if (text === undefined || /^(0|[1-9]\d{0,6})[mhdw]$/.test(text)) return;
  const fix = `give a whole number and a unit, such as 30m, 24h, 7d or 4w${also}`;
  throw new UsageError(`${option} is ${JSON.stringify(text)}`, fix);
}

/** Checks the values of a list option that takes only certain words. */
export function checkWords(option: string, given: readonly string[], words: readonly string[]): void {
  for (const word of given) chosen(option, word, words);
}

/** Checks a duration given on the command line, such as `7d`, and returns it unchanged. @throws {UsageError} */
export function durationOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    parseDuration(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`${name}: ${error.message}`);
  }
  return text;
}

/** Checks a start: a duration before now such as `7d`, or an ISO date with or without a time. @throws {UsageError} */
export function sinceOption(name: string, text: string | undefined): string | undefined {
  if (text === undefined || isDuration(text) || isIsoDate(text)) return text;
  const fix = "write how long ago, such as 7d, or a date such as 2026-03-01 or 2026-03-01T09:00:00Z";
  throw new UsageError(`${name} is ${JSON.stringify(text)}`, fix);
}
