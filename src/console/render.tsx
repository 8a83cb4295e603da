import type { Context } from "koa";
import { renderToString } from "preact-render-to-string";
import { Refusal } from "./changes.js";
import type { ConsolePage, FormValues, PageChange, RefusedForm, View, Visit } from "./console-page.js";
import { WithPresentation } from "./presentation.js";
import { displayedTraits } from "./displayed-traits.js";
import type { ApiMutation } from "./source.js";
import { logFailure, ErrorBody, pageErrorOf, renderDocument } from "./page.js";
import { address, LinkLine, Text, inAnyEnvironment } from "./parts.js";
import type { ComponentChildren } from "preact";

/** A request for a page, independent of whether the service or the local engine answers. */
export interface PageRequest extends Omit<Visit, "query"> {
  ctx: Context;
  frame: Frame;
}

/** A request with the form of a page. */
export type ChangeRequest = PageRequest & { tell: ApiMutation; form: FormValues };

/** Answers with a page of the console, or with its error page. */
export async function renderConsolePage(page: ConsolePage, asking: PageRequest): Promise<void> {
  const query = new URLSearchParams(asking.ctx.querystring);
  let view: View;
  try {
    view = await page.answer({ ...asking, query });
  } catch (error) {
    renderFailure(asking, error);
    return;
  }
  await renderView(asking, view);
}

/** Makes the change of a page, then redirects by `redirect`, or shows the returned view; if it is refused, shows the page and its form again. */
export async function renderConsoleChange(
  page: ConsolePage & { change: PageChange },
  asking: ChangeRequest,
  redirect: (next: string) => void,
): Promise<void> {
  let next: string | View;
  try {
    next = await page.change.make(asking);
  } catch (error) {
    await renderRefusal(page, asking, error);
    return;
  }
  if (typeof next === "string") redirect(next);
  else await renderView(asking, next);
}

/** Answers a form that was refused with its page, which shows the form with what was sent, and the reason. */
export async function renderRefusal(page: ConsolePage, asking: ChangeRequest, error: unknown): Promise<void> {
  const { ctx, form } = asking;
  const { status, words, headers } = pageErrorOf(error, "Correct what is wrong, and try again.");
  const note = (
    <>
      <strong>{words.title}</strong>
      <ErrorBody ctx={ctx} words={words} />
    </>
  );
  const refused: RefusedForm = { form, note, isShown: false };
  const query = new URLSearchParams(ctx.querystring);
  const answer = (query: URLSearchParams) => page.answer({ ...asking, query, refused });
  let view: View;
  try {
    view = await answer(query).catch((failure: unknown) => {
      const first = firstPage(query, pageErrorOf(failure).status);
      if (first === undefined) throw failure;
      // The form is also there.
      return answer(first);
    });
  } catch {
    renderFailure(asking, error);
    return;
  }
  logFailure(ctx, error);
  ctx.set(headers);
  // The page at this address would be reloaded by GET, without the reason.
  const { refreshSeconds: _, ...rest } = view;
  await renderView(asking, { ...rest, status }, refused);
}

/** @param refused the form to which the view is the answer; its note is above the view unless the view has the form */
async function renderView(asking: PageRequest, view: View, refused?: RefusedForm): Promise<void> {
  const { presentation } = asking;
  const { derived, customerIds = [] } = view;
  const [shown, outdated] = await Promise.all([
    displayedTraits(asking, customerIds),
    derived === undefined ? undefined : findOutdated(asking),
  ]);
  const body = (
    <WithPresentation value={{ ...presentation, displayedTraitsOf: (customerId) => shown.get(customerId) ?? {} }}>
      {outdated === undefined ? null : (
        <p class="note">
          <Text>{outdated.message}</Text> They keep the {derived} of that version until something happens to them, or
          until <a href="recomputes">a recompute</a>.
        </p>
      )}
      {view.body}
    </WithPresentation>
  );
  // Rendering finds out whether the form is there.
  if (refused !== undefined) renderToString(body);
  const isElsewhere = refused !== undefined && !refused.isShown;
  renderFramed(asking, {
    ...view,
    body: isElsewhere ? (
      <>
        <Refusal of={refused} />
        {body}
      </>
    ) : (
      body
    ),
  });
}

/** The finding that customers still have the state of another version; never in the local engine. */
async function findOutdated({ ask, isService }: PageRequest) {
  if (!isService) return undefined;
  const { data } = await ask("diagnostics");
  return data.find(({ code }) => code === "STATE_OUTDATED");
}

/** The query of the first page of a list, if a page was refused that may have an invalid cursor. */
function firstPage(query: URLSearchParams, status: number): URLSearchParams | undefined {
  const first = inAnyEnvironment(query);
  return status === 400 && first.size < query.size ? first : undefined;
}

/** Shows an error in the frame. */
function renderFailure(asking: PageRequest, error: unknown): void {
  const { ctx } = asking;
  const { status, words, headers } = pageErrorOf(error);
  // Failures of the service are rethrown, so that they are logged.
  if (status >= 500) throw error;
  logFailure(ctx, error);
  ctx.set(headers);
  const [home] = asking.frame.sections;
  const query = new URLSearchParams(ctx.querystring);
  const first = ctx.method === "GET" ? firstPage(query, status) : undefined;
  const next =
    first === undefined
      ? home
      : { href: address(ctx.path.slice(ctx.path.lastIndexOf("/") + 1), first), text: "First page" };
  const body = (
    <>
      <ErrorBody ctx={ctx} words={words} />
      {next && <LinkLine {...next} />}
    </>
  );
  renderFramed(asking, { title: words.title, status, body });
}

function renderFramed({ ctx, frame }: PageRequest, { title, body, status = 200, refreshSeconds }: View): void {
  if (refreshSeconds !== undefined) ctx.set("Refresh", String(refreshSeconds));
  renderDocument(ctx, {
    title,
    status,
    script: frame.script,
    body: (
      <Framed frame={frame} title={title}>
        {body}
      </Framed>
    ),
  });
}

/** A link of the frame; the current one is marked. */
interface Choice {
  text: string;
  href: string;
  isHere: boolean;
}

/** The frame around every page of the console. */
export interface Frame {
  /** In the top bar: organization, project and environment, each with its alternatives. */
  places: readonly { label: string; choices: readonly Choice[] }[];
  /** Whether the page shows live data. */
  isLive: boolean;
  /** The navigation. */
  sections: readonly Choice[];
  /** The user and how to sign out; in the local engine its clock. */
  aside: ComponentChildren;
  documentation: string | null;
  /** A script of this server; none unless given. */
  script?: string;
}

/** A page in its frame: the top bar above it, the navigation at its side. */
function Framed({ frame, title, children }: { frame: Frame; title: string; children: ComponentChildren }) {
  const { places, isLive, sections, aside, documentation } = frame;
  return (
    <>
      <header class="top">
        <a class="brand" href={sections[0]?.href ?? "./"}>
          svc
        </a>
        {places.map(({ label, choices }) => (
          <nav aria-label={label} key={label}>
            <ul>
              {choices.map(({ text, href, isHere }) => (
                <li key={href}>
                  <a
                    href={href}
                    class={isHere && isLive && text === "live" ? "live" : undefined}
                    aria-current={isHere ? "true" : undefined}
                  >
                    <bdi>{text}</bdi>
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        ))}
        <div class="account">
          {documentation === null ? null : <a href={documentation}>Documentation</a>}
          {aside}
        </div>
      </header>
      <div class="columns">
        <nav class="side" aria-label="Console">
          <ul>
            {sections.map(({ text, href, isHere }) => (
              <li key={href}>
                <a href={href} aria-current={isHere ? "page" : undefined}>
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main id="main">
          <h1>{title}</h1>
          {children}
        </main>
      </div>
    </>
  );
}
