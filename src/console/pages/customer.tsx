import type { ComponentChildren } from "preact";
import type { CustomerState } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber, printable } from "../../words/text.js";
import { HealthLine } from "../charts/health-line.js";
import { type ConsolePage, given, type View, type Visit } from "../console-page.js";
import { address, Ago, AsOf, At, AtAndAgo, customerHref, Empty, LinkLine, PageLinks, Section, Text } from "../parts.js";
import { InputField, ViewForm } from "../forms.js";
import { refused } from "../list-page.js";
import { History, KINDS } from "./customer/history.js";
import { BacklogNote, Cards, Journeys } from "./customer/state.js";
import { Why } from "./customer/why.js";

const PATH = "customer";
const HISTORY_LIMIT = "50";
/** So many changes of the score are drawn. */
const SCORES_LIMIT = "200";
/** So many traits that the model does not show are listed. */
const TRAITS_MAX = 200;
/** So many characters of a trait are shown. */
const TRAIT_LENGTH = 2_000;

/** What is the matter with a customer, and why; now, or as it stood at an instant. */
export const customerPage: ConsolePage = {
  path: PATH,
  async answer(visit) {
    const { ask, query, model } = visit;
    const customerId = query.get("id") ?? "";
    const at = given(query, "at");
    const cursor = given(query, "cursor");
    const of = { customerId, at };
    const state = await ask("customers/:customerId", of).catch(orRefused);
    if (state === null) return missing(customerId, at);
    if (state instanceof ApiError) {
      const now = <LinkLine href={customerHref(customerId)} text="Look at it as of now" />;
      return refused(printable(customerId), <AsItStood customerId={customerId} query={query} />, state, now);
    }
    const [explanation, history, scores, backlog] = await Promise.all([
      explained(visit, customerId, at),
      ask("customers/:customerId/history", { ...of, kinds: kindsIn(query), limit: HISTORY_LIMIT, cursor }),
      ask("customers/:customerId/health-scores", { customerId, limit: SCORES_LIMIT }),
      ask("customers/:customerId/backlog", { customerId }),
    ]);
    const name = nameIn(state, model?.display?.name);
    return {
      title: name ?? printable(customerId),
      body: (
        <>
          <AsOf at={state.at}>
            <Head state={state} visit={visit} named={name !== undefined} />
          </AsOf>
          {at === undefined ? <BacklogNote backlog={backlog} /> : <Past state={state} />}
          <AsOf at={state.at}>
            <Cards state={state} />
          </AsOf>
          {model?.health === null || model === null || scores.data.length < 2 ? null : (
            <HealthLine scores={scores.data} bands={model.health.bands} isWhole={scores.nextCursor === null} />
          )}
          <AsOf at={state.at}>
            <Journeys state={state} model={model} />
            <Section class="why" id="why" title="Why">
              {explanation instanceof ApiError ? (
                <Empty>Why it is so cannot be told for the moment: {explanation.message}</Empty>
              ) : (
                <Why explanation={explanation} />
              )}
            </Section>
            <Section id="history" title="What happened">
              <Kinds customerId={customerId} query={query} />
              <History entries={history.data} />
              <PageLinks path={PATH} query={query} next={history.nextCursor} />
            </Section>
          </AsOf>
        </>
      ),
    };
  },
};

/** Null where there is no such customer; what is wrong with the instant that is asked for. */
function orRefused(error: unknown): null | ApiError {
  if (error instanceof ApiError && error.code === "CUSTOMER_NOT_FOUND") return null;
  if (error instanceof ApiError && error.status === 400 && error.detail.field === "at") return error;
  throw error;
}

function missing(customerId: string, at: string | undefined): View {
  return {
    title: "No such customer",
    status: 404,
    body: (
      <>
        <p role="alert">
          There is no customer "<Text>{customerId}</Text>" in this environment
          {at === undefined ? "" : " at that instant"}.
        </p>
        <p>
          It may have been erased, be of the other environment, or be written otherwise: ids are case-sensitive.{" "}
          {at === undefined ? (
            <a href={address("customers", { search: customerId })}>Search for it</a>
          ) : (
            <a href={customerHref(customerId)}>Look at it as of now</a>
          )}
          .
        </p>
      </>
    ),
  };
}

/** The kinds of entries that are asked for, with commas between them; undefined for all. */
function kindsIn(query: URLSearchParams): string | undefined {
  const kinds = query.getAll("kind").filter((kind) => Object.hasOwn(KINDS, kind));
  return kinds.length === 0 ? undefined : kinds.join(",");
}

/** Which kinds of entries are shown; none is all. */
function Kinds({ customerId, query }: { customerId: string; query: URLSearchParams }) {
  const chosen = query.getAll("kind");
  return (
    <ViewForm path={PATH} hidden={{ id: customerId, at: given(query, "at") }} button="Show only these">
      {Object.entries(KINDS).map(([kind, text]) => (
        <label class="check" key={kind}>
          <input type="checkbox" name="kind" value={kind} checked={chosen.includes(kind)} /> {text}
        </label>
      ))}
    </ViewForm>
  );
}

/** Why the customer stands where it does; or why that cannot be told for the moment, when all else can be shown. */
async function explained({ ask }: Visit, customerId: string, at: string | undefined) {
  try {
    return await ask("customers/:customerId/explanation", { customerId, at });
  } catch (error) {
    if (error instanceof ApiError && error.status >= 500) return error;
    throw error;
  }
}

function nameIn({ traits }: CustomerState, trait: string | undefined): string | undefined {
  const name = trait === undefined ? undefined : traits[trait];
  return typeof name === "string" && name.trim() !== "" ? printable(name) : undefined;
}

/** Who it is: the id, the traits that the model shows, all others folded; and a date to look at. */
function Head({ state, visit, named }: { state: CustomerState; visit: Visit; named: boolean }) {
  const { display } = visit.model ?? {};
  const chosen = [display?.owner, display?.renewal, ...(display?.show ?? [])].filter((trait) => trait !== undefined);
  const others = Object.keys(state.traits).filter((trait) => !chosen.includes(trait) && trait !== display?.name);
  const facts = (names: readonly string[]) =>
    names.map((trait) => (
      <Fact name={trait} key={trait}>
        <TraitValue type={visit.model?.traits[trait]?.type} value={state.traits[trait]} />
      </Fact>
    ));
  return (
    <>
      <dl class="facts">
        {named ? (
          <Fact name="Id">
            <Text>{state.customerId}</Text>
          </Fact>
        ) : null}
        {facts(chosen)}
        <Fact name="Last event">{state.lastEventAt === null ? "none" : <Ago iso={state.lastEventAt} />}</Fact>
        <Fact name="Known since">
          <At iso={state.createdAt} />
        </Fact>
      </dl>
      {others.length === 0 ? null : (
        <details>
          <summary>{chosen.length === 0 ? "Traits" : "Other traits"}</summary>
          <dl class="facts">{facts(others.slice(0, TRAITS_MAX))}</dl>
          {others.length <= TRAITS_MAX ? null : (
            <Empty>
              And {formatNumber(others.length - TRAITS_MAX)} more: <code>svc customers export</code> has all.
            </Empty>
          )}
        </details>
      )}
      <AsItStood customerId={state.customerId} query={visit.query} />
    </>
  );
}

/** The date to look at. */
function AsItStood({ customerId, query }: { customerId: string; query: URLSearchParams }) {
  return (
    <ViewForm path={PATH} hidden={{ id: customerId }}>
      <InputField label="As it stood on" name="at" query={query} placeholder="2026-03-01 or 7d" maxLength={64} />
    </ViewForm>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>
        <Text>{name}</Text>
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A value of a trait as people read it; a date with how far it is. */
function TraitValue({ type, value }: { type: string | undefined; value: unknown }) {
  if (value === undefined) return <span class="faint">none</span>;
  if (typeof value === "string" && type === "date" && !Number.isNaN(Date.parse(value))) return <AtAndAgo iso={value} />;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return <Text>{text.length <= TRAIT_LENGTH ? text : `${text.slice(0, TRAIT_LENGTH)}…`}</Text>;
}

function Past({ state: { customerId, at, exactFrom, configVersion } }: { state: CustomerState }) {
  if (at === undefined) return null;
  return (
    <p class="note" role="status">
      As of <At iso={at} />, by a replay {configVersion === null ? "without a model" : `under ${configVersion}`} with
      the traits of today; how long ago something was counts from then.{" "}
      {exactFrom === null || exactFrom === undefined ? null : (
        <>
          Events before <At iso={exactFrom} /> may have been removed: what they led to is missing.{" "}
        </>
      )}
      <a href={customerHref(customerId)}>Now</a>
    </p>
  );
}
