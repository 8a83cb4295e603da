import type { Explanation, RuleExecution } from "../../../http/admin/answers.js";
import { FirstConditions } from "../../first-conditions.js";
import { At, Section, Text } from "../../parts.js";
import { ConditionTree } from "../customer/why.js";

/** The run of a rule that made an emission, and how its condition came out. */
export function MadeBy({ run }: { run: RuleExecution }) {
  const { ruleId, triggeredBy, executedAt, configVersion, conditions, superseded } = run;
  return (
    <Section
      class="why"
      id="rule"
      title={
        <>
          Made by the rule <Text>{ruleId}</Text>
        </>
      }
    >
      <p>
        It ran <At iso={executedAt} /> on <Text>{triggeredBy}</Text>
        {configVersion === null ? "" : ` under ${configVersion}`}.
        {superseded ? " A recompute has replaced the history that it is of." : ""}
      </p>
      {conditions?.["kind"] !== undefined ? (
        <FirstConditions of={[conditions as unknown as Explanation]} rest="svc emissions inspect">
          <ul>
            <ConditionTree explanation={conditions as unknown as Explanation} />
          </ul>
        </FirstConditions>
      ) : (
        <p>It has no condition.</p>
      )}
    </Section>
  );
}
