// The training in this page, and what it makes of the networks one can choose.
import { openWorker } from "#base";
import type { TrainedNetwork } from "../../minds/train-protocol.js";
import { PageTraining } from "../../state/page-training.js";
import { networks } from "../studio.js";

export const training = new PageTraining(
  () => openWorker("web/page/minds/train-worker"),
  () => performance.now(),
);

const LATEST = "trained in this page";
const addresses = new Map<TrainedNetwork, string>();

/** Where a worker finds a network that was trained here. */
function addressOf(network: TrainedNetwork): string {
  let address = addresses.get(network);
  if (address === undefined) {
    address = URL.createObjectURL(new Blob([network.bytes]));
    addresses.set(network, address);
  }
  return `${address}#${encodeURIComponent(nameOf(network))}`;
}

/** What the network learnt, in the name of its file. */
function nameOf({ step }: TrainedNetwork): string {
  const { plan, file } = training;
  const whose = plan?.player || file?.name.replace(/\.pgn.*$/i, "") || "games";
  return `${whose} step ${step}.safetensors`;
}

/** Puts a network among those that can take a seat; returns its id. */
export function takeNetwork(network: TrainedNetwork, id = nameOf(network)): string {
  networks.put({
    id,
    name: id.replace(/\.safetensors$/, ""),
    family: training.plan?.start || "residual",
    address: addressOf(network),
    origin: "trained here",
    bytes: network.bytes.length,
  });
  return id;
}

let latest: TrainedNetwork | undefined;

// The latest can sit at a board while it learns: its next move is by what it knows then.
training.subscribe(({ networks: trained }) => {
  const newest = trained.at(-1);
  if (newest === latest || !newest) return;
  latest = newest;
  takeNetwork(newest, LATEST);
});
