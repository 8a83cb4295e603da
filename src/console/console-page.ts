import type { ComponentChildren, VNode } from "preact";
import { ApiError } from "../http/errors.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { Look } from "./look.js";
import type { Ask, Tell } from "./source.js";

/** A visit to a page of the console. */
export interface Visit {
  ask: Ask;
  /** The whole state of the page. */
  query: URLSearchParams;
  /** The model that is active; null where none is. */
  model: Snapshot | null;
  look: Pick<Look, "now" | "timeZone">;
  environment: "test" | "live";
  /** The version that is active there; null for none, and in the local engine. */
  activeVersion: string | null;
  /** Whether a service answers; else it is the local engine, which delivers nothing. */
  isService: boolean;
  /** Whether who looks may do an operation of the administrative API, by its name in iam.operations(). */
  may: (operation: string) => boolean;
  /** The hidden field that a form which changes something must hold. */
  token: VNode | null;
}

/** What a page shows. */
export interface View {
  title: string;
  body: ComponentChildren;
  status?: number;
  /** After so many seconds the browser loads it again by itself. */
  refreshSeconds?: number;
  /** Customers that it names, for their names. */
  customerIds?: readonly string[];
}

/** A page of the console, of one environment. */
export interface ConsolePage {
  /** Its address, beside those of the others; links between pages are relative to it. */
  path: string;
  /** What leads there from every page; where there is none, only other pages do. */
  section?: string;
  /** Whether it asks what only the service can answer. */
  inService?: true;
  answer(visit: Visit): Promise<View>;
  /** Of a list: what it shows as a file of comma-separated values, in pieces; served beside it, as `customers.csv`. */
  csv?: (visit: Visit) => AsyncGenerator<string>;
  /** Of a page that asks whether something is to be changed. */
  change?: PageChange;
}

/** A change that the form of a page asks for. */
export interface PageChange {
  fields: readonly string[];
  /** Makes it, and answers where to go on: another page with its query; or what is shown once, a secret that was made. */
  make(visit: Pick<Visit, "ask" | "environment"> & { tell: Tell; form: Filled }): Promise<string | View>;
}

/** What a form was filled in with. */
export type Filled = Readonly<Record<string, string | undefined>>;

/** What a page shows as an answer: that a question was refused for its parameters, or for one of these reasons. Throws all else. */
export function expectedRefusal(error: unknown, ...codes: readonly string[]): ApiError {
  if (error instanceof ApiError && (error.status === 400 || codes.includes(error.code))) return error;
  throw error;
}

/** These parameters of the page's address, by their names. */
export function allGiven(query: URLSearchParams, names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, given(query, name)]));
}

/** Whether one of these parameters is given. */
export function isAnyGiven(query: URLSearchParams, names: readonly string[]): boolean {
  return names.some((name) => given(query, name) !== undefined);
}

/** A parameter of the page's address; undefined where it is missing or empty. */
export function given(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name)?.trim() ?? "";
  return value === "" ? undefined : value;
}
