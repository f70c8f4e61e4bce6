import { fireStoreConformance } from "../../conformance/fire-store.js";
import { postgresFireStoreUnderTest } from "../../harness/fire-store-harness.js";

fireStoreConformance("postgres", postgresFireStoreUnderTest);
