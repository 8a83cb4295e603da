import type { CustomerState } from "../../../http/admin/answers.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import { Ago, Section, Text } from "../../parts.js";
import { JOURNEYS_MAX, MoreJourneys } from "./why.js";

type Run = CustomerState["journeys"][number];

/** The customer's journeys, each as its steps; nothing where there is none. */
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
  return (
    <>
      <h3>
        <Text>{journeyId}</Text>{" "}
        <span class="faint">
          {status}, begun <Ago iso={startedAt} />
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
              <span class="faint">{done ? <Ago iso={done.completedAt} /> : isCurrent ? "waited for" : "to come"}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}
