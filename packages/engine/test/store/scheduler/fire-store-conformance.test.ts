import { fireStoreConformance } from "../../../../testkit/src/conformance/fire-store.js";
import { postgresFireStoreUnderTest } from "../../harness/fire-store-harness.js";

fireStoreConformance("postgres", postgresFireStoreUnderTest);
