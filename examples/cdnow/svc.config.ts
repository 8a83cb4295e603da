// A shop that sells compact discs: eighteen months of purchases and nothing else. With one kind of event, how often and how recently a
// customer bought is all there is to know, and it is a lot.
import { defineModel } from "svc-success";
import * as events from "./model/events.js";
import { stages } from "./model/lifecycle.js";
import * as segments from "./model/segments.js";

export default defineModel({ strictSchema: true, events, lifecycle: stages, segments });
