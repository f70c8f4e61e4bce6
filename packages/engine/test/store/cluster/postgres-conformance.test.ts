import { coordinatorConformance } from "../../conformance/coordinator.js";
import { postgresCluster } from "../../harness/cluster-harness.js";

coordinatorConformance("postgres", postgresCluster, { peersObserve: true });
