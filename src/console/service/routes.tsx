import type { Context } from "koa";
import type { AdminCredentials } from "../../db/api/access.js";
import { call } from "../../db/api/call.js";
import type { ConsolePlace } from "../../db/api/sign-in.js";
import type { Pages } from "../../http/app.js";
import { ApiError } from "../../http/errors.js";
import type { CreatedProject } from "../../http/admin/answers.js";
import type { OperationRoute } from "../../http/admin/route.js";
import { isTimeZone } from "../../http/request/instants.js";
import type { Route } from "../../http/route.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import { docsRoutes } from "../docs/routes.js";
import type { ConsolePage, FormValues, View } from "../console-page.js";
import { answerCsv } from "../../http/csv.js";
import { type ChangeRequest, type Frame, renderConsoleChange, renderConsolePage, renderRefusal } from "../render.js";
import {
  ErrorBody,
  logFailure,
  type PageError,
  pageErrorOf,
  renderErrorPage,
  renderPage,
  rootOf,
  seeOther,
} from "../page.js";
import { outdatedForm, pageRoute, type PageVisit } from "../page-route.js";
import { PAGES } from "../pages.js";
import type { PageDeps } from "../session.js";
import { devicePages } from "../sign-in/device.js";
import { linkedPages } from "../sign-in/links.js";
import { newPasswordPages } from "../sign-in/new-password.js";
import { Passwords } from "../sign-in/passwords.js";
import { signInLinkPages } from "../sign-in/sign-in-link.js";
import { signInPages, signInTo } from "../sign-in/sign-in.js";
import { RefusalNote } from "../changes.js";
import { WithSent } from "../forms.js";
import { askInDays } from "../span.js";
import { answerStyle } from "../style.js";
import type { ApiQuery } from "../source.js";
import { address, LinkLine, inAnyEnvironment } from "../parts.js";
import { type Endpoints, endpointsOf, serviceQuery, serviceMutation } from "./ask.js";
import { renderSignedOut } from "./signed-out.js";
import { SentForms } from "../sent-forms.js";
import { NewProject, PROJECT_FIELDS, projectMade } from "./first-project.js";

/** All pages of the service: signing in, the documentation, the console. */
export function servicePages(given: Omit<PageDeps, "passwords">): Pages {
  const deps = { ...given, passwords: new Passwords() };
  return {
    renderError: renderErrorPage,
    routes: (operations) => [
      styleRoute,
      rootRoute,
      ...docsRoutes(),
      ...[
        ...[...signInPages, ...signInLinkPages, ...linkedPages, ...newPasswordPages, ...devicePages],
        ...consoleRoutes(operations),
      ].map((route) => route(deps)),
    ],
  };
}

const styleRoute: Route = { method: "GET", path: "/console/style.css", handle: answerStyle };

/** GET /: redirects browsers to the console. */
const rootRoute: Route = {
  method: "GET",
  path: "/",
  handle: (ctx) => {
    if (ctx.accepts("json", "html") !== "html") throw new ApiError(404, "NOT_FOUND");
    seeOther(ctx, "/console");
  },
};

function consoleRoutes(operations: readonly OperationRoute[]) {
  const endpoints = endpointsOf(operations);
  const models = new ModelCache();
  const created = new SentForms<CreatedProject>();
  return [
    ...["/console", "/console/", "/console/:organization"].map((path) =>
      pageRoute({ method: "GET", path, answer: redirectToProject }),
    ),
    pageRoute({
      method: "POST",
      path: "/console/:organization",
      fields: PROJECT_FIELDS,
      answer: (visit) => createProject(visit, endpoints, created),
      outdated: shownAgain(PROJECT_FIELDS, (visit) => showNowhere(visit, SHOWN_AGAIN)),
    }),
    ...PAGES.flatMap((page) => routesOf(page, endpoints, models)),
  ];
}

type PageRoutes = ReturnType<typeof pageRoute>[];

/** The routes of a page: the page itself, its list as a CSV file, and its change. */
function routesOf(page: ConsolePage, endpoints: Endpoints, models: ModelCache): PageRoutes {
  const path = `/console/:organization/:project/:environment/${page.path}`;
  const { csv, change } = page;
  /** Calls `answer` with the project and environment of the visit; asks to sign in first. */
  const inPlace =
    (answer: (asking: ChangeRequest) => Promise<void>) =>
    async (visit: PageVisit<string>): Promise<void> => {
      const placed = await placeOf(visit, endpoints);
      if (placed === null) return;
      const model = await models.get(placed.place, placed.ask);
      await answer({ ...placed, model, frame: frameOf(visit, placed.place, page), form: visit.form });
    };
  const routes = [pageRoute({ method: "GET", path, answer: inPlace((asking) => renderConsolePage(page, asking)) })];
  if (csv !== undefined) {
    const answer = inPlace(({ ctx, ...asking }) => {
      const query = new URLSearchParams(ctx.querystring);
      return answerCsv(ctx, csv({ ...asking, query }), `${page.path}.csv`);
    });
    routes.push(pageRoute({ method: "GET", path: `${path}.csv`, answer }));
  }
  if (change !== undefined) {
    const sent = new SentForms<string | View>();
    const answer = inPlace((asking) => {
      const { ctx } = asking;
      const folder = ctx.path.slice(0, ctx.path.lastIndexOf("/") + 1);
      const once = { ...change, make: () => sent.once(asking, () => change.make(asking)) };
      return renderConsoleChange({ ...page, change: once }, asking, (next) => seeOther(ctx, folder + next));
    });
    const { fields } = change;
    const outdated = shownAgain(
      fields,
      inPlace((asking) => renderRefusal(page, asking, SHOWN_AGAIN)),
    );
    routes.push(pageRoute({ method: "POST", path, fields, answer, outdated }));
  }
  return routes;
}

const SHOWN_AGAIN = outdatedForm("Check the form, and submit it again.");

/** Answers a form whose token is not valid: keeps its fields, or shows it again by `show`; if that fails, tells nothing else than that. */
function shownAgain<Field extends string>(fields: readonly Field[], show: (visit: PageVisit<Field>) => Promise<void>) {
  return async (visit: PageVisit<Field>): Promise<void> => {
    if (visit.session === null) {
      renderSignedOut(visit, fields);
      return;
    }
    await show(visit).catch((error: unknown) => {
      throw pageErrorOf(error).status < 500 ? outdatedForm() : error;
    });
  };
}

/** The organization, project, environment and user of a visit; null after redirecting to the sign-in page. */
async function placeOf({ deps, ctx, session, tokenField }: PageVisit<string>, endpoints: Endpoints) {
  if (session === null) {
    signInFirst(ctx);
    return null;
  }
  const environment = environmentOf(ctx);
  const { organization: slug, project } = paramsOf(ctx);
  const place = await call(deps.sql, "open_console", session.hash, slug, project, environment);
  const { id: organizationId, timeZone: stored } = place.organization!;
  // The stored time zone may be unknown to Node.js.
  const timeZone = isTimeZone(stored) ? stored : "UTC";
  const credentials = credentialsOf(ctx, session.hash, organizationId);
  const asking = { ctx, credentials, at: { project: project!, environment } };
  const operations = new Set(place.operations);
  return {
    ctx,
    place,
    environment,
    activeVersion: place.activeVersion,
    isService: true,
    ask: askInDays(serviceQuery(endpoints, asking), timeZone),
    tell: serviceMutation(endpoints, asking),
    presentation: { now: Date.now(), timeZone },
    may: (operation: string) => operations.has(operation),
    token: tokenField(),
  };
}

function credentialsOf(ctx: Context, tokenHash: Buffer, organizationId: string): AdminCredentials {
  return { tokenHash, organizationId, requestId: ctx.state["requestId"] as string };
}

const paramsOf = (ctx: Context) => (ctx as Context & { params: Record<string, string | undefined> }).params;

function environmentOf(ctx: Context): "test" | "live" {
  const { environment } = paramsOf(ctx);
  if (environment === "test" || environment === "live") return environment;
  throw new ApiError(404, "NOT_FOUND", { message: "The environment must be test or live." });
}

/** Redirects to the sign-in page, which leads back here; for a file, to its page: on a download the browser would keep showing the form. */
function signInFirst(ctx: Context): void {
  seeOther(ctx, signInTo(ctx.path.replace(/\.csv$/, "") + ctx.search));
}

/** GET /console and /console/:organization: redirects to the first project, to live if a version is active there. */
async function redirectToProject(visit: PageVisit<never>): Promise<void> {
  const { deps, ctx, session } = visit;
  if (session === null) {
    signInFirst(ctx);
    return;
  }
  const place = await call(deps.sql, "open_console", session.hash, paramsOf(ctx).organization, null, "live");
  const { organization, project, activeVersion } = place;
  if (organization === null || project === null) {
    renderNowhere(visit, place);
    return;
  }
  const environment = activeVersion === null ? "test" : "live";
  seeOther(ctx, `/console/${organization.slug}/${project}/${environment}/${PAGES[0]!.path}`);
}

/** POST /console/:organization: creates a project, usually the first one, and shows its keys once. */
async function createProject(
  visit: PageVisit<(typeof PROJECT_FIELDS)[number]>,
  endpoints: Endpoints,
  created: SentForms<CreatedProject>,
): Promise<void> {
  const { deps, ctx, session, form } = visit;
  if (session === null) {
    signInFirst(ctx);
    return;
  }
  const { organization: slug } = paramsOf(ctx);
  const { organization } = await call(deps.sql, "open_console", session.hash, slug, null, "test");
  const tell = serviceMutation(endpoints, {
    ctx,
    credentials: credentialsOf(ctx, session.hash, organization!.id),
    at: { project: form.slug ?? "", environment: "test" },
  });
  let made: CreatedProject;
  try {
    const body = { name: form.name, slug: form.slug };
    made = await created.once(visit, async () => (await tell("POST /projects", {}, body)) as CreatedProject);
  } catch (error) {
    await showNowhere(visit, error);
    return;
  }
  renderPage(ctx, projectMade(made, `${rootOf(ctx)}console/${slug}/${made.project.slug}/test/${PAGES[0]!.path}`));
}

/** Shows the form for the first project again, with what was sent and why it was refused; throws the refusal if there is a project by now. */
async function showNowhere(visit: PageVisit<(typeof PROJECT_FIELDS)[number]>, refusal: unknown): Promise<void> {
  const { deps, ctx, session, form } = visit;
  const place = await call(deps.sql, "open_console", session!.hash, paramsOf(ctx).organization, null, "live");
  if (place.project !== null) throw refusal;
  logFailure(ctx, refusal);
  renderNowhere(visit, place, { form, error: pageErrorOf(refusal, "Correct what is wrong, and try again.") });
}

/**
 * The page for users without a project to show: why, what they can do, and a button to sign out.
 *
 * @param refused the form for the first project, as it was sent
 */
function renderNowhere(
  { ctx, session, tokenField }: PageVisit<string>,
  { organization, organizations, operations }: ConsolePlace,
  refused?: { form: FormValues; error: PageError },
): void {
  const mayCreate = operations.includes("create_project");
  const others = organizations.filter((other) => other !== organization?.slug);
  const command = "`svc projects create --name Shop --slug shop`";
  const { title, message, fix } =
    organization === null
      ? {
          title: "You belong to no organization",
          message: `${session!.email} is not a member of any organization.`,
          fix: "Ask an owner of an organization to invite you.",
        }
      : {
          title: "There is no project yet",
          message: `The organization ${organization.slug} has no project yet.`,
          fix: mayCreate
            ? `Create the first one here or with ${command}.`
            : `An administrator can create one here or with ${command}.`,
        };
  const body = (
    <>
      <p role={refused === undefined ? "alert" : undefined}>{message}</p>
      <p>{fix}</p>
      {refused && (
        <RefusalNote>
          <ErrorBody ctx={ctx} words={refused.error.words} />
        </RefusalNote>
      )}
      {organization !== null && (mayCreate || refused !== undefined) ? (
        <WithSent value={refused?.form ?? {}}>
          <NewProject action={`${rootOf(ctx)}console/${organization.slug}`} token={tokenField()} />
        </WithSent>
      ) : null}
      {organization === null
        ? null
        : others.map((other) => (
            <LinkLine href={`${rootOf(ctx)}console/${other}`} text={`Go to the organization ${other}`} key={other} />
          ))}
      <form method="post" action={`${rootOf(ctx)}logout`}>
        {tokenField()}
        <button class="second">Sign out</button>
      </form>
    </>
  );
  if (refused !== undefined) ctx.set(refused.error.headers);
  renderPage(ctx, { status: refused?.error.status ?? 404, title, body });
}

function frameOf({ session, tokenField, ctx }: PageVisit<string>, place: ConsolePlace, page: ConsolePage): Frame {
  const { path, list } = page;
  const elsewhere = list ?? address(path, inAnyEnvironment(new URLSearchParams(ctx.querystring)));
  const { organizations, organization, projects, project, environment } = place;
  const root = rootOf(ctx);
  return {
    places: [
      {
        label: "Organization",
        choices: organizations.map((slug) => ({
          text: slug,
          href: `${root}console/${slug}`,
          isHere: slug === organization?.slug,
        })),
      },
      {
        label: "Project",
        choices: projects.map(({ slug, name }) => ({
          text: projects.some((other) => other.name === name && other.slug !== slug) ? `${name} (${slug})` : name,
          href: `../../${slug}/${environment}/${PAGES[0]!.path}`,
          isHere: slug === project,
        })),
      },
      {
        label: "Environment",
        choices: ["test", "live"].map((text) => ({
          text,
          href: `../${text}/${elsewhere}`,
          isHere: text === environment,
        })),
      },
    ],
    isLive: environment === "live",
    sections: PAGES.flatMap((other) =>
      other.section === undefined ? [] : [{ text: other.section, href: other.path, isHere: other === page }],
    ),
    documentation: `${root}docs`,
    aside: (
      <>
        <span>{session?.email}</span>
        <a href={`${root}change-password`}>Change password</a>
        <form method="post" action={`${root}logout`}>
          {tokenField()}
          <button class="plain">Sign out</button>
        </form>
      </>
    ),
  };
}

const MODELS_MAX = 20;

/** The most recently used models; versions never change. */
class ModelCache {
  readonly #models = new Map<string, Snapshot>();

  /** The active model; null if there is none. */
  async get({ organization, project, activeVersion }: ConsolePlace, ask: ApiQuery): Promise<Snapshot | null> {
    if (activeVersion === null) return null;
    const key = `${organization?.id} ${project} ${activeVersion}`;
    const model = this.#models.get(key) ?? (await ask("config-versions/:version", { version: activeVersion })).snapshot;
    this.#models.delete(key);
    this.#models.set(key, model);
    if (this.#models.size > MODELS_MAX) this.#models.delete(this.#models.keys().next().value!);
    return model;
  }
}
