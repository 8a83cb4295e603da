import { LanguageModel, type LanguageModelSettings } from "../../ai/language-model.js";
import { Semaphore } from "../semaphore.js";

/** The language model, with the places of those who ask it: an answer takes minutes, in which its place holds nothing but memory. */
export interface AiQuestions {
  model: LanguageModel;
  /** Which is asked unless a question names another. */
  defaultModel: string;
  /** Of organizations. */
  places: Semaphore;
}

const QUESTIONS = 16;
const QUESTIONS_PER_ORGANIZATION = 4;
const WAITING_MAX = 20;
const WAIT_MS_MAX = 10_000;

export function createAiQuestions(settings: LanguageModelSettings): AiQuestions {
  const places = new Semaphore({
    places: QUESTIONS,
    each: QUESTIONS_PER_ORGANIZATION,
    waitingMax: WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
    reason: "Too many questions to the language model are under way.",
    reasonEach: "Too many questions of this organization to the language model are under way.",
  });
  return { model: new LanguageModel(settings), defaultModel: settings.model, places };
}
