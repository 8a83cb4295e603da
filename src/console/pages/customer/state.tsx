import type { Backlog, CustomerState } from "../../../http/admin/answers.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import { formatNumber, plural, printable } from "../../../words/text.js";
import { address, Ago, At, customerBeforeHref, Section, Tags, Text, TextLink } from "../../parts.js";
import { JOURNEYS_MAX, MoreJourneys } from "./why.js";

/** A note on operations that are not in the state yet; nothing if it is complete. */
export function BacklogNote({ backlog: { pending, ahead, setAside } }: { backlog: Backlog }) {
  if (setAside !== null) {
    return (
      <p class="error" role="alert">
        Set aside since <At iso={setAside.at} />, because its evaluation failed, with {plural(pending, "operation")}{" "}
        waiting: {printable(setAside.error ?? "unknown")}. Once the cause is fixed, it can be released.
      </p>
    );
  }
  if (pending === 0) return null;
  return (
    <p class="note" role="status">
      {pending === ahead
        ? `${plural(pending, "operation")} dated in the future, to be evaluated then.`
        : `${plural(pending, "operation")} waiting to be evaluated${ahead === 0 ? "" : `, ${formatNumber(ahead)} of them because they are dated in the future`}.`}
    </p>
  );
}

/** The customer's state, part by part. @param hasFormer whether the lifecycle state before this one can be shown */
export function Cards({ state, hasFormer }: { state: CustomerState; hasFormer: boolean }) {
  return (
    <div class="cards">
      <Lifecycle state={state} hasFormer={hasFormer} />
      <Health state={state} />
      <Signals state={state} />
      <Segments state={state} />
    </div>
  );
}

function Lifecycle({ state, hasFormer }: { state: CustomerState; hasFormer: boolean }) {
  const { customerId, lifecycle, lifecycleEnteredAt } = state;
  return (
    <Section class="card" id="state" title="State">
      {lifecycle === null ? (
        <p class="faint">none</p>
      ) : (
        <p>
          <TextLink class="big" href={address("customers", { lifecycle })} text={lifecycle} />
          {lifecycleEnteredAt === null ? null : (
            <>
              <br />
              since <At iso={lifecycleEnteredAt} />, <Ago iso={lifecycleEnteredAt} />
              {hasFormer ? (
                <>
                  <br />
                  <a href={customerBeforeHref(customerId, lifecycleEnteredAt, "why")}>What led to it</a>
                </>
              ) : null}
            </>
          )}
        </p>
      )}
    </Section>
  );
}

function Health({ state: { health } }: { state: CustomerState }) {
  return (
    <Section class="card" id="health" title="Health">
      {health === null ? (
        <p class="faint">no score</p>
      ) : (
        <>
          <p>
            <span class="big">{formatNumber(health.overall)}</span> of 100,{" "}
            <TextLink href={address("customers", { health: health.band })} text={health.band} />
          </p>
          <dl>
            {Object.entries(health.components).map(([component, score]) => (
              <>
                <dt>
                  <Text>{component}</Text>
                </dt>
                <dd>{formatNumber(score)}</dd>
              </>
            ))}
          </dl>
        </>
      )}
    </Section>
  );
}

function Signals({ state: { signals } }: { state: CustomerState }) {
  return (
    <Section class="card" id="signals" title="Signals">
      {signals.length === 0 ? <p class="faint">none raised</p> : null}
      {signals.map(({ signalId, severity, message, raisedAt }) => (
        <p key={signalId}>
          <TextLink class={severity} href={address("customers", { signal: signalId })} text={signalId} />{" "}
          <span class="faint">
            {severity}, <Ago iso={raisedAt} />
          </span>
          {message === null ? null : (
            <>
              <br />
              <Text>{message}</Text>
            </>
          )}
        </p>
      ))}
    </Section>
  );
}

function Segments({ state: { segments } }: { state: CustomerState }) {
  return (
    <Section class="card" id="segments" title="Segments">
      {segments.length === 0 ? (
        <p class="faint">in none</p>
      ) : (
        <p>
          <Tags
            items={segments.map((segment) => ({
              text: segment,
              href: address("customers", { segment }),
            }))}
          />
        </p>
      )}
    </Section>
  );
}

type Run = CustomerState["journeys"][number];

/** The customer's journeys with their steps; nothing if there are none. */
export function Journeys({ state: { journeys }, model }: { state: CustomerState; model: Snapshot | null }) {
  if (journeys.length === 0) return null;
  return (
    <Section id="journeys" title="Journeys">
      {journeys.slice(0, JOURNEYS_MAX).map((run) => {
        const defined = model?.journeys.find(({ id }) => id === run.journeyId)?.steps.map(({ id }) => id);
        return <Journey run={run} steps={defined ?? Object.keys(run.stepsData)} key={run.journeyId} />;
      })}
      <MoreJourneys of={journeys} />
    </Section>
  );
}

function Journey({ run, steps }: { run: Run; steps: readonly string[] }) {
  const { journeyId, status, currentStep, startedAt, completedAt, expiredAt } = run;
  const ended = completedAt ?? expiredAt;
  const data = run.stepsData as Record<string, { completedAt: string }>;
  const later = status === "active" ? "to come" : "not done";
  return (
    <>
      <h3>
        <Text>{journeyId}</Text>{" "}
        <span class="faint">
          {status}, started <Ago iso={startedAt} />
          {ended === null ? null : (
            <>
              , ended <Ago iso={ended} />
            </>
          )}
        </span>
      </h3>
      <ol class="steps">
        {steps.map((step) => {
          const done = data[step];
          const isCurrent = status === "active" && step === currentStep;
          return (
            <li class="tag" aria-current={isCurrent ? "step" : undefined} key={step}>
              <span class="mark" aria-hidden="true">
                {done ? "✓" : isCurrent ? "●" : "○"}
              </span>
              <Text>{step}</Text>{" "}
              <span class="faint">{done ? <Ago iso={done.completedAt} /> : isCurrent ? "next" : later}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}
