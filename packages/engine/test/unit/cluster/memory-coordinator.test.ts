import { coordinatorConformance } from "../../../../testkit/src/conformance/coordinator.js";
import { memoryCluster } from "../../harness/cluster-harness.js";

coordinatorConformance("memory", memoryCluster, { peersObserve: true });
