// A worker process that delivers until it is killed. Argument: the database's URL.
import { pino } from "pino";
import { connect } from "../../../src/db/connect.js";
import { Deliverer } from "../../../src/tasks/deliver/deliver.js";
import { SERVICE_SECRET } from "./fixtures.js";

const sql = connect(process.argv[2]!, { max: 4, applicationName: "svc test worker" });
new Deliverer({ sql, secret: SERVICE_SECRET, allowPrivate: true, logger: pino({ level: "silent" }) });
