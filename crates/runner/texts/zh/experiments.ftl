### Findings and conclusions on searches, comparisons and sweeps. A remedy is an attribute of its message.

## Searches

no-response = 最近 { $trials } 次试验没有收到 { $contender } 的响应（共 { $all } 次试验）。
    .remedy = 用 `brunt check URL` 检查服务器

capacity-disturbed = { $all } 次试验中有 { $count } 次，服务器不是唯一的瓶颈（{ $limits }）：这些试验只能证明负载达到目标，不能证明未达到目标。
    .of-contender = { $contender }：{ $all } 次试验中有 { $count } 次，服务器不是唯一的瓶颈（{ $limits }）：这些试验只能证明负载达到目标，不能证明未达到目标。
    .limits-and-process = { $limits }；CPU 占用最多的进程：{ $process } 核
    .remedy = 在没有其他程序使用本机时测量，或从另一台机器测量

capacity-imprecise =
    .budget = 在达到目标精度之前，时间预算已用完。
    .remedy-budget = 提高 --time-budget
    .remedy-needed = 足以确认两端的预算：--time-budget { $time }
    .stopped = 在达到目标精度之前，搜索被停止。
    .remedy-stopped = 使用 --resume 继续

server-damaged = 服务器没有从过载中恢复；此后的试验不计入。
    .remedy = 在每次试验之前重启服务器（计划文件：find: {"{"}between: restart{"}"}）

requirement =
    .met = 要求 { $requirement }：达标；实际情况：{ $capacity }。
    .undecided = 要求 { $requirement }：未定；实际情况：{ $capacity }。
    .missed = 要求 { $requirement }：未达标；实际情况：{ $capacity }。

# The load of a series.
history-load =
    .search = 搜索
