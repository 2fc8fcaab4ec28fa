### Histories of a figure.

history-column =
    .id = 编号
    .when = 时间（UTC）
    .figure = 数值
    .interval = 95 % 置信区间
    .verdict = 判定

history-chart =
    .start = 运行的开始时间（UTC）
    .days = 自 { $day }起的天数
    .run = 运行
    .median = 变化点之间的中位数
    .excluded = 未计入的运行

counted-runs = { $count } 次计入的运行

history-conclusion = { $runs }中有 { $changes } 个变化点（各次运行独立时，没有变化的历史出现误报的比例为 { $level }）。
    .no-change = { $runs }中没有变化点（各次运行独立时，没有变化的历史出现误报的比例为 { $level }）。
    .too-few-runs = 无法得知水平是否变化：{ $runs }，而寻找变化点至少需要 { $needed } 次。
    .about = { $conclusion }{ $changes }
    .changes = { $first }{ $next }

day = { $month }月{ $day }日

date = { $year }年{ $day }

history-note =
    .older-runs = 省略了 { $count } 次更早的运行：历史最多包含 { $most } 次运行；用 --last 提高此数。
    .other-plans = 省略了服务器、标签和负载相同的 { $count } 次运行：它们的计划与 { $id } 不同。
    .further-series = 所选项中还有 { $count } 个系列。用其中的一次运行选择系列：--like ID。
    .excluded = 显示但未计入的运行有 { $count } 次。
    .doubtful = { $count } 次运行的判定不是 { $verdict }：仍然计入，因为按判定挑选等于按结果挑选。
    .independent = 运行太少，无法估计自相关：假定噪声独立。
    .similar = 相邻的运行相似（自相关 { $autocorrelation }）：虚假的变化点比独立的运行更多。
