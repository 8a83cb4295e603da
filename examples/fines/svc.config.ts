// Traffic fines of an Italian town, from the offence to the payment, the dismissal or the debt collector. A "customer" is a case here: what
// the service follows need not be a person. Events keep the names they have in the town's own system.
import { defineModel } from "svc-success";
import * as events from "./model/events.js";
import * as journeys from "./model/journeys.js";
import { stages } from "./model/lifecycle.js";
import * as segments from "./model/segments.js";

export default defineModel({ strictSchema: true, events, lifecycle: stages, journeys, segments });
