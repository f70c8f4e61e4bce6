import { fireStoreConformance } from "../../conformance/fire-store.js";
import { memoryFireStoreUnderTest } from "../../harness/fire-store-harness.js";

fireStoreConformance("memory", memoryFireStoreUnderTest);
