import type { ComponentChildren, VNode } from "preact";
import { ApiError } from "../http/errors.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { Presentation } from "./presentation.js";
import type { ApiQuery, ApiMutation } from "./source.js";

/** A visit to a page of the console. */
export interface Visit {
  ask: ApiQuery;
  /** The query of the address, which holds the whole state of the page. */
  query: URLSearchParams;
  /** The active model; null if there is none. */
  model: Snapshot | null;
  presentation: Pick<Presentation, "now" | "timeZone">;
  environment: "test" | "live";
  /** The active version of the environment; null if there is none, and in the local engine. */
  activeVersion: string | null;
  /** Whether the service answers; else the local engine does, which delivers nothing. */
  isService: boolean;
  /** Whether the user may do an operation of the administrative API, named as in iam.operations(). */
  may: (operation: string) => boolean;
  /** The hidden field that a form must contain to change something. */
  token: VNode | null;
  /** The form of this page that was just refused; undefined if the page is only opened. */
  refused?: RefusedForm;
}

/** A form that was refused. Its page is shown again, with what was sent and the reason. */
export interface RefusedForm {
  form: FormValues;
  /** Says why. */
  note: VNode;
  /** Whether the note is shown above the form, which may no longer be on the page. */
  isShown: boolean;
}

/** The contents of a page. */
export interface View {
  title: string;
  body: ComponentChildren;
  status?: number;
  /** What it shows that customers have by the model, such as `bands`: the page says if some have those of another version. */
  derived?: string;
  /** The browser reloads the page after this many seconds. */
  refreshSeconds?: number;
  /** Customers shown on it, whose names are looked up. */
  customerIds?: readonly string[];
}

/** A page of the console, of one environment. */
export interface ConsolePage {
  /** The last segment of its address. Links between pages are relative. */
  path: string;
  /** The text of its link in the navigation; without it only other pages link to it. */
  section?: string;
  /** For the page of one item that only one environment has: the page with the list, to which the choice of another environment leads. */
  list?: string;
  /** It needs answers that only the service has. */
  inService?: true;
  answer(visit: Visit): Promise<View>;
  /** For a list: its rows as comma-separated values, in pieces; served as `customers.csv`, for example. */
  csv?: (visit: Visit) => AsyncGenerator<string>;
  /** For a page with a form that changes something. */
  change?: PageChange;
}

/** A change that the form of a page requests. */
export interface PageChange {
  fields: readonly string[];
  /** Makes the change. Returns the next page with its query, or a view that is shown once, such as a new secret. */
  make(visit: Pick<Visit, "ask" | "environment"> & { tell: ApiMutation; form: FormValues }): Promise<string | View>;
}

/** The values of a form's fields. */
export type FormValues = Readonly<Record<string, string | undefined>>;

/** Returns a refusal that a page shows: status 400, or one of these codes. Throws every other error. */
export function expectedRefusal(error: unknown, ...codes: readonly string[]): ApiError {
  if (error instanceof ApiError && (error.status === 400 || codes.includes(error.code))) return error;
  throw error;
}

/** The values of these parameters of the page's address, by name. */
export function queryParams(query: URLSearchParams, names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map((name) => [name, queryParam(query, name)]));
}

/** Whether one of these parameters is given. */
export function hasAnyParam(query: URLSearchParams, names: readonly string[]): boolean {
  return names.some((name) => queryParam(query, name) !== undefined);
}

/** Parameters with an id or a name as backends send it, which may begin or end with a space. */
export const EXACT: readonly string[] = ["customer", "type", "event", "trait"];

/** A parameter of the page's address, trimmed unless it is EXACT; undefined if it is missing or empty. */
export function queryParam(query: URLSearchParams, name: string): string | undefined {
  const given = query.get(name) ?? "";
  const value = EXACT.includes(name) ? given : given.trim();
  return value === "" ? undefined : value;
}
