import { HiddenFields } from "../forms.js";
import { renderPage, rootOf } from "../page.js";
import type { PageVisit } from "../page-route.js";
import { signInTo } from "../sign-in/sign-in.js";

/** Answers a form whose sender is no longer signed in. The answer keeps what was entered, for after the next sign-in in another tab. */
export function renderSignedOut({ ctx, form }: PageVisit<string>, fields: readonly string[]): void {
  const here = ctx.path + ctx.search;
  renderPage(ctx, {
    status: 403,
    title: "You are signed out",
    body: (
      <>
        <p role="alert">
          You were signed out before you sent the form, so nothing was done. This page keeps what you entered.
        </p>
        <p>
          <a href={rootOf(ctx) + signInTo(here).slice(1)} target="_blank">
            Sign in, in a new tab
          </a>
          , then come back to this one.
        </p>
        <form method="post" action={rootOf(ctx) + here.slice(1)}>
          <HiddenFields of={Object.fromEntries(fields.map((name) => [name, form[name]]))} />
          <button>Go on with the form</button>
        </form>
      </>
    ),
  });
}
