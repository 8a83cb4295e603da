import type { Context } from "koa";
import { toApiError } from "../http/errors.js";
import { noteInLog } from "../http/middleware/request-log.js";
import type { ConsolePage, Filled, PageChange, View, Visit } from "./console-page.js";
import { WithLook } from "./look.js";
import { shownOf } from "./shown.js";
import type { Tell } from "./source.js";
import { ErrorBody, PageError, pageErrorOf, renderDocument } from "./page.js";
import { LinkLine } from "./parts.js";
import type { ComponentChildren } from "preact";

/** What a page is asked by, whoever answers. */
export interface Asking extends Omit<Visit, "query"> {
  ctx: Context;
  frame: Frame;
}

/** Answers with a page of the console, also where what it asks for fails. */
export async function renderConsolePage(page: ConsolePage, asking: Asking): Promise<void> {
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

/** Makes a change, and leads on by `goOn` or shows what came of it; in the frame also where it fails. */
export async function renderConsoleChange(
  change: PageChange,
  asking: Asking & { tell: Tell; form: Filled },
  goOn: (next: string) => void,
): Promise<void> {
  let next: string | View;
  try {
    next = await change.make(asking);
  } catch (error) {
    renderFailure(asking, error);
    return;
  }
  if (typeof next === "string") goOn(next);
  else await renderView(asking, next);
}

async function renderView(asking: Asking, view: View): Promise<void> {
  const { look } = asking;
  const shown = await shownOf(asking, view.customerIds ?? []);
  renderFramed(asking, {
    ...view,
    body: <WithLook value={{ ...look, shownOf: (customerId) => shown.get(customerId) ?? {} }}>{view.body}</WithLook>,
  });
}

/** Says in the frame what went wrong. */
function renderFailure(asking: Asking, error: unknown): void {
  const { ctx } = asking;
  const { status, words, headers } = pageErrorOf(error);
  // Our own faults are for the log, too.
  if (status >= 500) throw error;
  if (!(error instanceof PageError)) noteInLog(ctx, { failure: toApiError(error) });
  ctx.set(headers);
  const [home] = asking.frame.sections;
  const form = formPage(ctx);
  const next = form === null ? home : { href: form, text: "Back to the form" };
  const body = (
    <>
      <ErrorBody ctx={ctx} words={words} />
      {next && <LinkLine {...next} />}
    </>
  );
  renderFramed(asking, { title: words.title, status, body });
}

/** The page that a form was sent from, one beside that which it was sent to; null where the browser does not say. */
function formPage(ctx: Context): string | null {
  const referer = ctx.get("Referer");
  if (ctx.method !== "POST" || !URL.canParse(referer)) return null;
  const { host, pathname, search } = new URL(referer);
  const [from, to] = [pathname, ctx.path].map((path) => path.lastIndexOf("/") + 1) as [number, number];
  // A proxy may have put something in front.
  const isBeside = host === ctx.host && pathname.slice(0, from).endsWith(ctx.path.slice(0, to));
  return isBeside ? pathname.slice(from) + search : null;
}

function renderFramed({ ctx, frame }: Asking, { title, body, status = 200, refreshSeconds }: View): void {
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

/** A link of the frame; the one that leads to where one is is marked. */
interface Choice {
  text: string;
  href: string;
  isHere: boolean;
}

/** What stands around every page of the console. */
export interface Frame {
  /** Above: the organization, project and environment, each with its alternatives. */
  places: readonly { label: string; choices: readonly Choice[] }[];
  /** Whether what is shown is of real customers. */
  isLive: boolean;
  /** The pages. */
  sections: readonly Choice[];
  /** Who looks, and how to leave; a clock where there is one to be moved. */
  aside: ComponentChildren;
  documentation: string | null;
  /** A script of this server; none unless given. */
  script?: string;
}

/** A page in its frame: where one is above, the other pages beside it. */
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
