import { parseDuration } from "../../model/snapshot/duration.js";
import type { Journey } from "../../model/snapshot/types.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import type { CompiledCondition } from "../conditions/leaf.js";
import { journeyItem } from "../compile-context.js";
import type { BoundaryOf, DerivedPart, OpenCustomer, RuleOccasion } from "../open-customer.js";
import type { JourneyBoundaries } from "../state/boundary.js";
import type { JourneyRun, Json } from "../state/types.js";

interface CompiledStep {
  id: string;
  when: CompiledCondition;
}

/** A journey: a run begins when its start condition holds, completes its steps, and ends complete or expired. */
export class CompiledJourney implements DerivedPart {
  readonly name: string;
  readonly reads: DerivedPart["reads"];
  readonly #journey: Journey;
  readonly #index: number;
  readonly #lasts: number;
  readonly #start: CompiledCondition;
  readonly #steps: CompiledStep[];

  constructor(journey: Journey, index: number, compiler: ConditionCompiler) {
    this.name = journeyItem(journey.id);
    this.reads = compiler.reads;
    this.#journey = journey;
    this.#index = index;
    this.#lasts = journey.expiresAfter === undefined ? Infinity : parseDuration(journey.expiresAfter);
    const boundaryOf = (name: keyof JourneyBoundaries): BoundaryOf => {
      return (customer) => customer.journeyBoundaries[index]![name];
    };
    // What counted towards a run does not count towards the next.
    const end = journey.repeat ? boundaryOf("end") : undefined;
    this.#start = compiler.compile(journey.start, end, end);
    this.#steps = journey.steps.map(({ id, when, since }) => {
      return { id, when: compiler.compile(when, boundaryOf(since ?? "start")) };
    });
  }

  run(customer: OpenCustomer): boolean {
    const expired = this.#expire(customer);
    const started = this.#maybeStart(customer);
    const progressed = this.#progress(customer);
    const changed = expired || started || progressed;
    // Its own steps may read its progress, and the next run may follow one that ended.
    if (changed) customer.dirty[customer.model.journeyItems[this.#index]!] = 1;
    return changed;
  }

  nextChange(customer: OpenCustomer): number {
    const run = customer.journeys[this.#index];
    if (run?.status !== "active") return this.#mayStart(run) ? this.#start.nextChange(customer) : Infinity;
    let next = run.startedAt + this.#lasts;
    for (const step of this.#consulted(run)) next = Math.min(next, step.when.nextChange(customer));
    return next;
  }

  explain(customer: OpenCustomer): { [key: string]: Json } {
    const run = customer.journeys[this.#index];
    return {
      journey: this.#journey.id,
      status: run?.status ?? "not_started",
      start: this.#mayStart(run) ? this.#start.explain(customer) : null,
      steps: this.#steps.map(({ id, when }) => ({
        step: id,
        completed: run !== undefined && Object.hasOwn(run.steps, id),
        condition: run?.status === "active" && !Object.hasOwn(run.steps, id) ? when.explain(customer) : null,
      })),
    };
  }

  #expire(customer: OpenCustomer): boolean {
    const run = customer.journeys[this.#index];
    if (run?.status !== "active" || customer.clock < run.startedAt + this.#lasts) return false;
    // It is complete: another version had the steps that it waited for.
    if (this.#unfinished(run).length === 0) return false;
    const expiredAt = customer.clock;
    this.#change(customer, { ...run, status: "expired", expiredAt, endedBy: customer.causeOrder() });
    this.#emit(customer, "journey.expired");
    return true;
  }

  #maybeStart(customer: OpenCustomer): boolean {
    const before = customer.journeys[this.#index];
    if (!this.#mayStart(before) || !this.#start.test(customer)) return false;
    if (customer.journeyStartedIn[this.#index] === customer.evaluation || customer.isAtMoveLimit) {
      // At most one start per evaluation, and not endlessly by time alone. The next evaluation tries again, whatever it concerns.
      customer.blockedItems.push(customer.model.journeyItems[this.#index]!);
      return false;
    }
    customer.journeyStartedIn[this.#index] = customer.evaluation;
    customer.countMoveByTime();
    this.#change(customer, {
      run: (before?.run ?? 0) + 1,
      status: "active",
      currentStep: this.#steps[0]!.id,
      startedAt: customer.clock,
      startedBy: customer.causeOrder(),
      steps: {},
      completedAt: null,
      expiredAt: null,
      endedBy: null,
    });
    this.#emit(customer, "journey.started");
    return true;
  }

  #progress(customer: OpenCustomer): boolean {
    let changed = false;
    for (const step of this.#steps) {
      const run = customer.journeys[this.#index];
      if (run?.status !== "active") break;
      if (Object.hasOwn(run.steps, step.id)) continue;
      if (step.when.test(customer)) {
        this.#complete(customer, run, step.id);
        changed = true;
      } else if (!this.#journey.anyOrder) {
        break;
      }
    }
    return this.#followModel(customer) || changed;
  }

  /**
   * Adjusts an active run that began under another version to the steps of this one: those that it waited for may be gone, or others may
   * come before them. Returns whether it changed.
   */
  #followModel(customer: OpenCustomer): boolean {
    const run = customer.journeys[this.#index];
    if (run?.status !== "active") return false;
    if (this.#unfinished(run)[0]?.id === run.currentStep) return false;
    const adjusted = this.#advanced(customer, run);
    this.#change(customer, adjusted);
    if (adjusted.status === "complete") this.#emit(customer, "journey.completed");
    return true;
  }

  /** The run at its first unfinished step, or complete if there is none. */
  #advanced(customer: OpenCustomer, run: JourneyRun): JourneyRun {
    const [unfinished] = this.#unfinished(run);
    if (unfinished !== undefined) return { ...run, currentStep: unfinished.id };
    const ended = { status: "complete", completedAt: customer.clock, endedBy: customer.causeOrder() } as const;
    return { ...run, currentStep: this.#steps.at(-1)!.id, ...ended };
  }

  #complete(customer: OpenCustomer, run: JourneyRun, id: string): void {
    const completedAt = customer.clock;
    const by = customer.causeOrder();
    const done = { ...run.steps, [id]: { completedAt, triggeredBy: customer.causeName(), by } };
    const ids = this.#steps.map((step) => step.id);
    // In the author's order, whatever the order of completion; steps that another version knew come last.
    const known = [...ids.filter((step) => Object.hasOwn(done, step)), ...Object.keys(done)];
    const steps = Object.fromEntries(known.map((step) => [step, done[step]!]));
    const advanced = this.#advanced(customer, { ...run, steps });
    this.#change(customer, advanced);
    this.#emit(customer, "journey.step_completed", id);
    if (advanced.status === "complete") this.#emit(customer, "journey.completed");
  }

  #mayStart(run: JourneyRun | undefined): boolean {
    return run === undefined || (this.#journey.repeat === true && run.status !== "active");
  }

  /** The steps whose conditions are consulted: the unfinished ones, or only the first of them if steps are in order. */
  #consulted(run: JourneyRun): CompiledStep[] {
    const unfinished = this.#unfinished(run);
    return this.#journey.anyOrder ? unfinished : unfinished.slice(0, 1);
  }

  #unfinished(run: JourneyRun): CompiledStep[] {
    return this.#steps.filter(({ id }) => !Object.hasOwn(run.steps, id));
  }

  #change(customer: OpenCustomer, run: JourneyRun): void {
    customer.setJourney(this.#index, run);
    customer.push({ kind: "journey", journey: this.#journey.id, run });
  }

  #emit(customer: OpenCustomer, what: Extract<RuleOccasion, `journey.${string}`>, step?: string): void {
    const { id: journey } = this.#journey;
    customer.noteOccasion(what, step === undefined ? journey : `${journey}.${step}`);
    customer.emit(what, "journey", step === undefined ? { journey } : { journey, step });
  }
}
