/** The columns of ChessDecoder's tables. q is win minus loss, d the share of draws, m the expected plies left. */
export const DECODER_COLUMNS = [
  "game_id", "ply", "fen", "played_move", "best_move",
  "root_q", "root_d", "root_m", "best_q", "best_d", "best_m", "played_q", "played_d", "played_m",
  "plies_left", "visits",
] as const; // biome-ignore format: by meaning
/** What its tables of thought have besides. */
export const VARIATION_COLUMNS = ["variations", "mcts_action", "mcts_value"] as const;
