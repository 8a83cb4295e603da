import type { Context } from "koa";
import { ClientGoneError } from "../body.js";
import { toApiError } from "../errors.js";
import { readForm, type Form } from "../form.js";
import { recordFailure } from "../request-log.js";
import type { Route } from "../route.js";
import type { PageDeps } from "./deps.js";
import { requireToken, TOKEN_FIELD, tokenField } from "./form-token.js";
import type { Html } from "./html.js";
import { PageError, renderError } from "./page-error.js";
import { requireSameOrigin } from "./same-origin.js";
import { currentSession, type Session } from "./session.js";

/** A browser's request for a page, or with a form of one. */
export interface Visit<Field extends string> {
  deps: PageDeps;
  ctx: Context;
  /** Who is signed in. */
  session: Session | null;
  /** Of a POST: its fields. */
  form: Form<Field>;
  /** The hidden field that each form of the page must hold. */
  tokenField: () => Html;
}

interface PageRoute<Field extends string> {
  method: "GET" | "POST";
  path: string;
  /** Those of the form, without its token. */
  fields?: readonly Field[];
  /** Renders a page, or sends the browser to another. Whatever it throws becomes a page. */
  answer(visit: Visit<Field>): void | Promise<void>;
}

/**
 * Makes a route of a page. A POST reaches `answer` only if it came from a page of ours and carries the token that this browser was shown.
 */
export function pageRoute<const Field extends string = never>(route: PageRoute<Field>): (deps: PageDeps) => Route {
  const { method, path, fields = [] } = route;
  return (deps) => ({
    method,
    path,
    handle: (ctx) =>
      withErrorPages(ctx, async () => {
        if (method === "POST") requireSameOrigin(deps, ctx);
        const form = method === "POST" ? await readForm(ctx, [...fields, TOKEN_FIELD]) : undefined;
        const session = await currentSession(deps, ctx);
        if (form) requireToken(deps, ctx, session, form[TOKEN_FIELD]);
        const visit = { deps, ctx, session, form: (form ?? {}) as Form<Field> };
        await route.answer({ ...visit, tokenField: () => tokenField(deps, ctx, session) });
      }),
  });
}

/** A parameter of the page's address; undefined where it is missing or repeated. */
export function queryText(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === "string" ? value : undefined;
}

async function withErrorPages(ctx: Context, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    // There is nobody to show a page to.
    if (error instanceof ClientGoneError) throw error;
    if (!(error instanceof PageError)) recordFailure(ctx, toApiError(error));
    renderError(ctx, error);
  }
}
