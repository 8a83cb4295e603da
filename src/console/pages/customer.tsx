import type { ComponentChildren } from "preact";
import type { CustomerState, HistoryEntry } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber, printable } from "../../words/text.js";
import { HealthLine } from "../charts/health-line.js";
import { type ConsolePage, queryParam, type View, type Visit } from "../console-page.js";
import {
  address,
  Ago,
  AsOf,
  At,
  AtAndAgo,
  customerHref,
  Empty,
  LinkLine,
  mayBeRounded,
  PageLinks,
  Section,
  Text,
} from "../parts.js";
import { jsonArrays } from "../displayed-traits.js";
import { InputField, ViewForm } from "../forms.js";
import { refused } from "../list-page.js";
import { History, KINDS } from "./customer/history.js";
import { BacklogNote, Cards, Journeys } from "./customer/state.js";
import { Why } from "./customer/why.js";

const PATH = "customer";
const HISTORY_LIMIT = "50";
/** More than there are at one instant in most models. */
const TRANSITIONS_LIMIT = "20";
/** The most changes of the score that are drawn. */
const SCORES_LIMIT = "200";
/** The most traits that are listed besides those that the model displays. */
const TRAITS_MAX = 200;
/** The most characters of a trait that are shown. */
const TRAIT_LENGTH = 2_000;

/** A customer's state, the reasons for it and its history, now or as of an instant. */
export const customerPage: ConsolePage = {
  path: PATH,
  async answer(visit) {
    const { ask, query, model, isService } = visit;
    const customerId = query.get("id") ?? "";
    const at = queryParam(query, "at");
    const cursor = queryParam(query, "cursor");
    const of = { customerId, at };
    const state = await ask("customers/:customerId", of).catch(orRefused);
    if (state === null) return missing(visit, customerId, at);
    if (state instanceof ApiError) {
      const now = <LinkLine href={customerHref(customerId)} text="Show it as of now" />;
      return refused(printable(customerId), <AsItStood customerId={customerId} query={query} />, state, now);
    }
    const [digits, explanation, history, transitions, scores, backlog] = await Promise.all([
      digitsOf(visit, state),
      explained(visit, customerId, at),
      ask("customers/:customerId/history", { ...of, kinds: kindsIn(query), limit: HISTORY_LIMIT, cursor }),
      ask("customers/:customerId/history", { ...of, kinds: "transition", limit: TRANSITIONS_LIMIT }),
      ask("customers/:customerId/health-scores", { customerId, limit: SCORES_LIMIT }),
      ask("customers/:customerId/backlog", { customerId }),
    ]);
    const name = nameIn(state, model?.display?.name);
    return {
      title: name ?? printable(customerId),
      body: (
        <>
          <AsOf at={state.at}>
            <Head state={state} visit={visit} named={name !== undefined} digits={digits} />
          </AsOf>
          {at === undefined ? <BacklogNote backlog={backlog} /> : <Past state={state} isService={isService} />}
          <AsOf at={state.at}>
            <Cards state={state} hasFormer={hasFormerState(state, transitions.data, isService)} />
          </AsOf>
          {model?.health === null || model === null || scores.data.length < 2 ? null : (
            <HealthLine scores={scores.data} bands={model.health.bands} isWhole={scores.nextCursor === null} />
          )}
          <AsOf at={state.at}>
            <Journeys state={state} model={model} />
            <Section class="why" id="why" title="Why">
              {explanation instanceof ApiError ? (
                <Empty>The explanation is not available at the moment: {explanation.message}</Empty>
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

/** Null if there is no such customer; the error for an invalid instant. Throws every other error. */
function orRefused(error: unknown): null | ApiError {
  if (error instanceof ApiError && error.code === "CUSTOMER_NOT_FOUND") return null;
  if (error instanceof ApiError && error.status === 400 && error.detail.field === "at") return error;
  throw error;
}

function missing({ isService }: Visit, customerId: string, at: string | undefined): View {
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
          {at === undefined
            ? "It may have been erased, belong to the other environment, or be spelled differently: ids are case-sensitive."
            : isService
              ? "Its first event may be later, or have been removed because of its age."
              : "Here a customer exists from the arrival of its first operation on, also if its events are older: the past is what had arrived by then."}{" "}
          {at === undefined ? (
            <a href={address("customers", { search: customerId })}>Search for it</a>
          ) : (
            <a href={customerHref(customerId)}>Show it as of now</a>
          )}
          .
        </p>
      </>
    ),
  };
}

/** Whether the page can show the state before the present one. In `svc dev` a customer's past begins with its arrival. */
function hasFormerState(state: CustomerState, latest: readonly HistoryEntry[], isService: boolean): boolean {
  const entered = state.lifecycleEnteredAt;
  if (entered === null || (!isService && entered <= state.createdAt)) return false;
  return latest.some(({ at }) => at < entered);
}

/** The requested kinds of entries, separated by commas; undefined for all. */
function kindsIn(query: URLSearchParams): string | undefined {
  const kinds = query.getAll("kind").filter((kind) => Object.hasOwn(KINDS, kind));
  return kinds.length === 0 ? undefined : kinds.join(",");
}

/** The form that chooses kinds of entries; none selected shows all. */
function Kinds({ customerId, query }: { customerId: string; query: URLSearchParams }) {
  const chosen = query.getAll("kind");
  return (
    <ViewForm path={PATH} hidden={{ id: customerId, at: queryParam(query, "at") }} button="Show only these">
      {Object.entries(KINDS).map(([kind, text]) => (
        <label class="check" key={kind}>
          <input type="checkbox" name="kind" value={kind} checked={chosen.includes(kind)} /> {text}
        </label>
      ))}
    </ViewForm>
  );
}

/** The explanation of the customer's state; the error if only that is unavailable. */
async function explained({ ask }: Visit, customerId: string, at: string | undefined) {
  try {
    return await ask("customers/:customerId/explanation", { customerId, at });
  } catch (error) {
    if (error instanceof ApiError && error.status >= 500) return error;
    throw error;
  }
}

/** The most traits that can be asked for at once. */
const DIGITS_MAX = 50;
/** The most characters that a number is shown with; of 1e308 nobody wants to see all digits. */
const DIGITS_LENGTH = 40;

/** The numbers among a customer's traits that JavaScript may have rounded, such as long account numbers, as they were sent. */
async function digitsOf({ ask }: Visit, { customerId, traits }: CustomerState): Promise<Record<string, string>> {
  const names = Object.keys(traits).filter((name) => {
    const value = traits[name];
    return typeof value === "number" && mayBeRounded(value);
  });
  const [first] = jsonArrays(names, DIGITS_MAX);
  if (first === undefined) return {};
  const customers = JSON.stringify([customerId]);
  const texts = Object.entries((await ask("traits", { customers, names: first }))[customerId] ?? {});
  // They are the present traits; those of a past instant may be others.
  return Object.fromEntries(
    texts.filter(([name, text]) => text.length <= DIGITS_LENGTH && Number(text) === traits[name]),
  );
}

function nameIn({ traits }: CustomerState, trait: string | undefined): string | undefined {
  const name = trait === undefined ? undefined : traits[trait];
  return typeof name === "string" && name.trim() !== "" ? printable(name) : undefined;
}

/** The id, the traits that the model displays, all others folded, and the form for another date. */
function Head(props: { state: CustomerState; visit: Visit; named: boolean; digits: Readonly<Record<string, string>> }) {
  const { state, visit, named, digits } = props;
  const { display } = visit.model ?? {};
  const chosen = [display?.owner, display?.renewal, ...(display?.show ?? [])].filter((trait) => trait !== undefined);
  const others = Object.keys(state.traits).filter((trait) => !chosen.includes(trait) && trait !== display?.name);
  const facts = (names: readonly string[]) =>
    names.map((trait) => (
      <Fact name={trait} key={trait}>
        <TraitValue type={visit.model?.traits[trait]?.type} value={digits[trait] ?? state.traits[trait]} />
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
              And {formatNumber(others.length - TRAITS_MAX)} more; <code>svc customers export</code> has all of them.
            </Empty>
          )}
        </details>
      )}
      <AsItStood customerId={state.customerId} query={visit.query} />
    </>
  );
}

/** The form that shows the customer as of another date. */
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

/** The value of a trait: a date with the time since or until then, a list without the signs of JSON. */
function TraitValue({ type, value }: { type: string | undefined; value: unknown }) {
  if (value === undefined) return <span class="faint">none</span>;
  if (typeof value === "string" && type === "date" && !Number.isNaN(Date.parse(value))) return <AtAndAgo iso={value} />;
  const isList = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each !== "object");
  const text = isList ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
  return <Text>{text.length <= TRAIT_LENGTH ? text : `${text.slice(0, TRAIT_LENGTH)}…`}</Text>;
}

function Past({ state, isService }: { state: CustomerState; isService: boolean }) {
  const { customerId, at, exactFrom, configVersion } = state;
  if (at === undefined) return null;
  const model = configVersion === null ? "without a model" : `under ${configVersion}`;
  return (
    <p class="note" role="status">
      As of <At iso={at} />,{" "}
      {/* The local model has no version, and the local past is not a replay of the present traits. */}
      {isService ? `by a replay ${model} with today's traits` : "under the local model, by what had arrived by then"}.
      Ages count from then.{" "}
      {exactFrom === null || exactFrom === undefined ? null : (
        <>
          Events before <At iso={exactFrom} /> may have been removed, so their effects may be missing.{" "}
        </>
      )}
      <a href={customerHref(customerId)}>Now</a>
    </p>
  );
}
