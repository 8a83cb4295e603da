import type { Explanation } from "../../../engine/conditions/leaf.js";
import type { ExplainedCustomer } from "../../../http/admin/answers.js";
import { factsOf, groupInWords, type InstantWords, measuredInWords } from "../../../words/explanation.js";
import { distance, formatNumber, percent, plural, printable } from "../../../words/text.js";
import { FirstConditions, useShown } from "../../first-conditions.js";
import { usePresentation } from "../../presentation.js";
import { dateTime, Empty, Text } from "../../parts.js";

/** The most journeys of a customer that are shown; each may have a hundred steps. */
export const JOURNEYS_MAX = 20;

/** The explanation of a customer's state, part by part: which conditions hold, what would change them, and when time alone will. */
export function Why({ explanation }: { explanation: ExplainedCustomer }) {
  const { lifecycle, journeys, segments, health, signals, unavailable, configVersion, activeVersion, flipsKnown } =
    explanation;
  if (unavailable !== null) return <Empty>{printable(unavailable.message)}</Empty>;
  const shownJourneys = journeys.slice(0, JOURNEYS_MAX);
  const conditions = [
    ...(lifecycle?.transitions ?? []),
    ...signals,
    ...segments,
    ...shownJourneys.flatMap(({ start, steps }) => [{ condition: start }, ...steps]),
  ].flatMap(({ condition }) => condition ?? []);
  return (
    <FirstConditions of={conditions} rest="svc customers inspect">
      {configVersion === activeVersion || activeVersion === null ? null : (
        <Empty>
          This state was computed {configVersion === null ? "without a model" : `under ${configVersion}`};{" "}
          {activeVersion} is active now.
        </Empty>
      )}
      {flipsKnown ? null : (
        <Empty>When conditions will change by themselves is unknown: too much history would have to be read.</Empty>
      )}
      {lifecycle === null ? null : <Lifecycle lifecycle={lifecycle} />}
      {health === null ? null : <Health health={health} />}
      {signals.map(({ signal, raised, condition }) => (
        <Part what="Signal" name={signal} is={raised ? "raised" : "not raised"} isOpen={raised} key={signal}>
          {condition}
        </Part>
      ))}
      {segments.map(({ segment, member, condition }) => (
        <Part what="Segment" name={segment} is={member ? "a member" : "not a member"} isOpen={member} key={segment}>
          {condition}
        </Part>
      ))}
      {shownJourneys.map((journey) => (
        <Journey journey={journey} key={journey.journey} />
      ))}
      <MoreJourneys of={journeys} />
    </FirstConditions>
  );
}

function Lifecycle({ lifecycle: { state, transitions } }: { lifecycle: NonNullable<ExplainedCustomer["lifecycle"]> }) {
  return (
    <>
      <h3>
        State <Text>{state ?? "none"}</Text>
      </h3>
      {transitions.length === 0 ? <p>No transition leads out of this state.</p> : null}
      {transitions.map(({ to, condition }) => (
        <details open={transitions.length <= 4} key={to}>
          <summary>
            to <Text>{to}</Text>, when
          </summary>
          <ul>
            <ConditionTree explanation={condition} />
          </ul>
        </details>
      ))}
    </>
  );
}

function Health({ health: { components } }: { health: NonNullable<ExplainedCustomer["health"]> }) {
  const weights = components.reduce((sum, { score, weight }) => sum + (score === null ? 0 : weight), 0);
  return (
    <>
      <h3>Health, as last scored</h3>
      <ul>
        {components.map(({ component, weight, score, measure }) => (
          <li key={component}>
            <Text>{component}</Text>{" "}
            {score === null ? (
              "is not counted"
            ) : (
              <>
                scores <strong>{formatNumber(score)}</strong>, which counts{" "}
                {percent(weights === 0 ? 0 : weight / weights)}
              </>
            )}
            : <Text>{`${measure.text} was ${measuredInWords(measure)}`}</Text>
          </li>
        ))}
      </ul>
    </>
  );
}

function Part(props: { what: string; name: string; is: string; isOpen: boolean; children: Explanation | null }) {
  const { what, name, is, isOpen, children: condition } = props;
  return (
    <details open={isOpen}>
      <summary>
        {what} <Text>{name}</Text>: {is}
      </summary>
      {condition === null ? (
        <p>Rules decide this.</p>
      ) : (
        <ul>
          <ConditionTree explanation={condition} />
        </ul>
      )}
    </details>
  );
}

function Journey({ journey }: { journey: ExplainedCustomer["journeys"][number] }) {
  const { journey: name, status, start, steps } = journey;
  return (
    <details open={status === "active"}>
      <summary>
        Journey <Text>{name}</Text>: {status.replaceAll("_", " ")}
      </summary>
      {start === null ? null : (
        <>
          <p>starts when</p>
          <ul>
            <ConditionTree explanation={start} />
          </ul>
        </>
      )}
      {status === "active" ? (
        <ul>
          {steps.map(({ step, completed, condition }) => (
            <li key={step}>
              <Mark met={completed} /> step <Text>{step}</Text>
              {condition === null ? null : (
                <ul>
                  <ConditionTree explanation={condition} />
                </ul>
              )}
            </li>
          ))}
        </ul>
      ) : null}
    </details>
  );
}

/** The number of journeys that are not shown; nothing if all are. */
export function MoreJourneys({ of: journeys }: { of: readonly unknown[] }) {
  if (journeys.length <= JOURNEYS_MAX) return null;
  return (
    <Empty>
      And {plural(journeys.length - JOURNEYS_MAX, "more journey")}; <code>svc customers inspect</code> shows all.
    </Empty>
  );
}

/** A condition in words with its facts, and its parts below it. */
export function ConditionTree({ explanation }: { explanation: Explanation }) {
  const words = useWords();
  const { kind, text, met, conditions } = explanation;
  const isShown = useShown([explanation]).length > 0;
  const parts = useShown(conditions ?? []);
  if (!isShown) return null;
  const facts = factsOf(words, explanation);
  return (
    <li>
      <Mark met={met} /> <Text>{conditions === undefined ? text : groupInWords(kind, conditions)}</Text>
      {facts.length === 0 ? null : (
        <span class="faint">
          {" "}
          <Text>{facts.join("; ")}</Text>
        </span>
      )}
      {conditions === undefined ? null : (
        <ul>
          {parts.map((part, index) => (
            <ConditionTree explanation={part} key={index} />
          ))}
        </ul>
      )}
    </li>
  );
}

function useWords(): InstantWords {
  const { now, timeZone } = usePresentation();
  return { now, at: (iso) => dateTime(iso, timeZone), ago: (iso) => distance(iso, now) };
}

function Mark({ met }: { met: boolean }) {
  return (
    <span class={met ? "mark good" : "mark faint"} role="img" aria-label={met ? "met:" : "not met:"}>
      {met ? "✓" : "✗"}
    </span>
  );
}
