/** Parts that all read each other have the same types as without the circle. Never run: types.test.ts checks it. */
import { onboarding, score, stages } from "./circle.js";

// @ts-expect-error misspelt state
stages.is("actvated");
// @ts-expect-error misspelt step
onboarding.atStep("invit");
// @ts-expect-error misspelt component
score.component("usage");
// @ts-expect-error misspelt band
score.band.is("criticl");
