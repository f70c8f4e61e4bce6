import { coordinatorConformance } from "../../conformance/coordinator.js";
import { memoryCluster } from "../../harness/cluster-harness.js";

coordinatorConformance("memory", memoryCluster, { peersObserve: true });
